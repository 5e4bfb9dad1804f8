"""Every list of the API reads a bounded number of rows for a page, with each combination of its filters.

Lists and filters are those of the endpoints, so a new list needs rows here and a new filter a value. Its statements are
run again by EXPLAIN, which counts the rows that Postgres reads for them.
"""

from collections.abc import Iterator
from itertools import chain, combinations
from typing import Any
from urllib.parse import urlencode

import pytest
from sqlalchemy import Engine, text

from api.auth import tokens
from api.endpoint import ENDPOINTS
from api.http import bounded_queries as bounded
from api.operations import Endpoint
from bulksms.local.postgres import Postgres
from shared.accounts.administration import create_key, revoke_key
from shared.events import stream
from shared.ids import new_id
from shared.messages import search
from tests.harness.database import disposable_database
from tests.harness.people import a_member
from tests.harness.service import SECRET_KEY, Service
from tests.harness.statements import statements
from tests.harness.times import ahead
from tests.integration.http.test_bounded_lists import DELIVERED, RECEIVED
from tests.integration.jobs.test_imports import send_file

ROWS = 60
"""In each list, none of which has what the filters ask for."""
EXAMINED = 5
"""What a page may examine in these tests, instead of 10,000."""
MOST = 4 * EXAMINED
"""Rows that one statement reads at most: a few more than it examines, as it finds its page and the rest of its rows."""
UNKNOWN = "01900000-0000-7000-8000-000000000000"
VALUES: dict[str, dict[str, Any]] = {
    "/sends": {"status": "canceled", "reference": "rare", "in_progress": "true"},
    "/messages": {
        "status": "undelivered",
        "phone": "254799999999",
        "error": "unknown_subscriber",
        "permanent": "true",
        "carrier": "rare",
        "country": "DE",
        "category": "marketing",
        "reference": "rare",
        "group_id": UNKNOWN,
        "since": "2020-01-01T00:00:00Z",
        "until": ahead(),
        "texts": None,
    },
    "/groups": {"search": "rare"},
    "/sends/<uuid:send_id>/messages": {"status": "undelivered"},
    "/groups/<uuid:group_id>/contacts": {"phone": "254799999999", "tag": "rare"},
    "/webhooks/<uuid:webhook_id>/deliveries": {"status": "failed"},
    "/events": {"types": "message.received", "after": None},
    "/imports": {"group_id": UNKNOWN},
    "/inbound": {
        "keyword": "stop",
        "phone": "254799999999",
        "sender_id": "RARE",
        "since": "2020-01-01T00:00:00Z",
        "until": ahead(),
        "latest": "true",
    },
    "/sender-ids": {"status": "suspended", "search": "rare"},
    "/verifications": {"phone": "254799999999"},
    "/suppressions": {"category": "marketing", "phone": "254799999999", "reason": "rare", "sender_id": "RARE"},
}
"""By list, a value of each filter that no row has. None: it finds no less, such as where a page begins."""
OFF = (
    ("enable_seqscan",),
    ("enable_seqscan", "enable_bitmapscan"),
    ("enable_seqscan", "enable_bitmapscan", "enable_sort"),
)
OTHERS = {
    "/errors": "the catalogue, which is not in the database",
    "/usage": "counts, which are bounded by their period and by the time of a statement",
    "/prices": "of one version, whose rows are found by their key",
    "/invitations": "at most 100 are open, and the others are deleted",
    "/me/sessions": "of one person, and those that ended are deleted",
}
"""Lists that are bounded otherwise."""


def is_list(endpoint: Endpoint) -> bool:
    return endpoint.method == "GET" and "next_cursor" in endpoint.response().fields


LISTS = {each.path: each for each in ENDPOINTS if is_list(each)}


def filters(path: str) -> list[str]:
    """The documented filters of a list."""
    query = LISTS[path].query
    return sorted(set(query().fields) - {"cursor", "limit"}) if query else []


def combined(names: list[str]) -> list[tuple[str, ...]]:
    """All combinations of up to two filters, and all together."""
    sizes = sorted({0, 1, 2, len(names)})
    return list(chain.from_iterable(combinations(names, size) for size in sizes))


CASES = [
    pytest.param(path, names, id=f"{path} {' '.join(names)}")
    for path in sorted(LISTS.keys() - OTHERS)
    for names in combined([name for name in filters(path) if VALUES[path][name] is not None])
]
PHONES = [str(254711000001 + number) for number in range(ROWS)]


@pytest.fixture(scope="module")
def engine(postgres_server: Postgres) -> Iterator[Engine]:
    with disposable_database(postgres_server) as engine:
        yield engine


@pytest.fixture(scope="module")
def listed(engine: Engine) -> tuple[Service, dict[str, str]]:
    """An account whose lists have ROWS entries each, or had so many, and the ids in the paths of the lists."""
    service = Service(engine)
    service.get("/events")
    ids = {"send_id": str(service.bulk(PHONES, send_at=ahead()).json["send_id"])}
    for phone in PHONES:
        assert service.send(phone).status_code == 200
        paused = service.bulk([phone], send_at=ahead()).json["send_id"]
        assert service.post(f"/sends/{paused}/pause").status_code == 200
    service.deliver_receipts()
    ids["group_id"] = service.new_group(PHONES)
    service.post("/suppressions", phones=PHONES, reason="usual")
    ids["webhook_id"] = service.post("/webhooks", url="https://example.com/all").json["webhook_id"]
    for number, phone in enumerate(PHONES):
        send_file(service, ids["group_id"], phone)
        service.import_files()
        service.post("/erasures", phone=phone)
        service.post("/sender-ids", sender_id=f"S{number}")
        gone = service.post("/groups", name=f"Gone {number}").json["group_id"]
        assert service.delete(f"/groups/{gone}").status_code == 200
        gone = service.post("/webhooks", url="https://example.com/gone").json["webhook_id"]
        assert service.delete(f"/webhooks/{gone}").status_code == 200
    ids["import_id"] = send_file(service, ids["group_id"], "\n".join(["phone", *PHONES, *["0712"] * ROWS])).json[
        "import_id"
    ]
    service.import_files()
    with engine.begin() as connection:
        for _ in range(ROWS):
            revoke_key(connection, create_key(connection, service.account_id, SECRET_KEY).api_key)
            a_member(connection, service.account_id, "viewer")
            usual = {"id": new_id(), "account": service.account_id, "webhook": ids["webhook_id"]}
            connection.execute(DELIVERED, {**usual, "state": "delivered"})
            connection.execute(RECEIVED, {**usual, "key": "start"})
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("VACUUM ANALYZE"))
    return service, ids


def rows_read(engine: Engine, statement: str, parameters: Any) -> dict[str, int]:
    """The rows of each table that Postgres reads for a statement, if it uses the best of the indexes that there are.

    By itself it does not for so few rows, so it is led to one plan and another.
    """
    plans = [rows_of_plan(engine, statement, parameters, off) for off in OFF]
    return min(plans, key=lambda read: max(read.values(), default=0))


def rows_of_plan(engine: Engine, statement: str, parameters: Any, off: tuple[str, ...]) -> dict[str, int]:
    """The same, without some ways to read and sort."""
    read: dict[str, int] = {}

    def add(node: dict[str, Any]) -> None:
        if "Relation Name" in node:
            rows = node["Actual Rows"] + node.get("Rows Removed by Filter", 0)
            name = node["Relation Name"]
            read[name] = read.get(name, 0) + int(rows * node["Actual Loops"])
        for each in node.get("Plans", ()):
            add(each)

    with engine.connect() as connection:
        for setting in off:
            connection.exec_driver_sql(f"SET LOCAL {setting} = off")
        plan = connection.exec_driver_sql(f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}", parameters).scalar_one()
        connection.rollback()
    add(plan[0]["Plan"])
    return read


def test_each_list_and_filter_is_known() -> None:
    for path in LISTS.keys() - OTHERS:
        assert filters(path) == sorted(VALUES.get(path, {})), path


@pytest.mark.parametrize(("path", "names"), CASES)
def test_a_page_reads_few_rows(
    listed: tuple[Service, dict[str, str]], monkeypatch: pytest.MonkeyPatch, path: str, names: tuple[str, ...]
) -> None:
    service, ids = listed
    monkeypatch.setattr(tokens, "FRESH", 3600.0)
    monkeypatch.setattr(bounded, "MAX_ROWS_EXAMINED", EXAMINED)
    monkeypatch.setattr(stream, "MAX_ROWS", EXAMINED)
    for name in ("MAX_SENDS", "MAX_BATCHES", "MAX_MESSAGES"):
        monkeypatch.setattr(search, name, EXAMINED)
    query = urlencode({"limit": 1, **{name: VALUES[path][name] for name in names}})
    for variable, identifier in ids.items():
        path = path.replace(f"<uuid:{variable}>", identifier)
    service.get("/balance")
    with statements(service.api_engine) as executed:
        response = service.get(f"{path}?{query}")
    assert response.status_code == 200, response.text
    for statement, parameters in executed:
        if statement.lstrip().startswith(("SELECT", "WITH")):
            read = rows_read(service.engine, statement, parameters)
            assert max(read.values(), default=0) <= MOST, (read, statement)


@pytest.mark.parametrize("path", sorted(LISTS.keys() - OTHERS))
def test_the_statements_of_a_list_have_a_short_time(
    listed: tuple[Service, dict[str, str]], monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    service, ids = listed
    monkeypatch.setattr(tokens, "FRESH", 3600.0)
    for variable, identifier in ids.items():
        path = path.replace(f"<uuid:{variable}>", identifier)
    service.get("/balance")
    with statements(service.api_engine) as executed:
        assert service.get(path).status_code == 200
    timeouts = [str(parameters) for statement, parameters in executed if "set_config" in statement]
    assert any(str(1000 * bounded.STATEMENT_SECONDS) in each for each in timeouts)
