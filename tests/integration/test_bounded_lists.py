"""A list examines a bounded number of rows for each page, whatever its filters and however much there is."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import Engine, event

from api import message_search
from shared.lifecycle import MessageStatus
from tests.integration.service import Service
from tests.times import ahead

REFUSED, NAIROBI = "99902000002", "254711000001"


@contextmanager
def statements(engine: Engine) -> Iterator[list[tuple[str, Any]]]:
    """The statements that are executed meanwhile, with their parameters."""
    executed: list[tuple[str, Any]] = []

    def remember(_: Any, __: Any, statement: str, parameters: Any, *___: Any) -> None:
        executed.append((statement, parameters))

    event.listen(engine, "before_cursor_execute", remember)
    try:
        yield executed
    finally:
        event.remove(engine, "before_cursor_execute", remember)


def batches_read(executed: list[tuple[str, Any]]) -> int:
    return sum("FROM message" in statement for statement, _ in executed)


def pages(service: Service, path: str) -> list[dict[str, Any]]:
    """All pages of a list whose path has a query."""
    read: list[dict[str, Any]] = []
    cursor = ""
    while not read or read[-1]["next_cursor"] is not None:
        read.append(service.get(path + cursor).json)
        cursor = f"&cursor={read[-1]['next_cursor']}"
    return read


def rows_examined(engine: Engine, table: str, statement: str, parameters: Any) -> int:
    """Rows of the table that Postgres reads for a statement, by an index."""
    with engine.connect() as connection:
        connection.exec_driver_sql("SET enable_seqscan = off")
        plan = connection.exec_driver_sql(f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}", parameters).scalar_one()
        connection.exec_driver_sql("RESET enable_seqscan")

    def examined(node: dict[str, Any]) -> int:
        own = 0
        if node.get("Relation Name") == table:
            each = node["Actual Rows"] + node.get("Rows Removed by Filter", 0)
            own = int(each * node["Actual Loops"])
        return own + sum(map(examined, node.get("Plans", ())))

    return examined(plan[0]["Plan"])


def test_sends_without_such_a_message_are_passed_over(service: Service) -> None:
    service.send(REFUSED)
    for _ in range(30):
        service.send()
    with statements(service.engine) as executed:
        answer = service.get("/messages?status=failed&limit=1").json
    assert [message["phone"] for message in answer["data"]] == [REFUSED]
    assert batches_read(executed) == 1
    with statements(service.engine) as executed:
        assert service.get("/messages?status=undelivered").json == {"data": [], "next_cursor": None}
        assert service.get("/messages?status=queued").json == {"data": [], "next_cursor": None}
    assert batches_read(executed) == 0


def test_each_status_finds_what_the_whole_list_shows(service: Service) -> None:
    service.bulk([REFUSED, NAIROBI, "99901000001"])
    service.deliver_receipts()
    service.bulk([NAIROBI, "254711000002"], send_at=ahead())
    canceled = service.bulk([NAIROBI, "254711000003"], send_at=ahead()).json["send_id"]
    service.post(f"/sends/{canceled}/cancel")
    paused = service.bulk([NAIROBI], send_at=ahead()).json["send_id"]
    service.post(f"/sends/{paused}/pause")
    everything = service.get("/messages").json["data"]
    assert {message["status"] for message in everything} >= {"failed", "delivered", "scheduled", "canceled"}
    for status in MessageStatus:
        found = [message for page in pages(service, f"/messages?status={status}") for message in page["data"]]
        assert found == [message for message in everything if message["status"] == status]
        for send in {message["send_id"] for message in everything}:
            of_send = [
                each for page in pages(service, f"/sends/{send}/messages?status={status}") for each in page["data"]
            ]
            assert of_send == [message for message in found if message["send_id"] == send]


def test_the_messages_of_a_send_are_read_in_bounded_parts(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    service = Service(engine, credits=5000)
    send = service.bulk([str(254712000000 + number) for number in range(3001)], send_at=ahead()).json["send_id"]
    monkeypatch.setattr(message_search, "MOST_MESSAGES", 1000)
    with statements(engine) as executed:
        first = service.get(f"/sends/{send}/messages?status=queued&limit=1").json
    assert (first["data"], first["next_cursor"] is None, batches_read(executed)) == ([], False, 2)
    without = pages(service, f"/sends/{send}/messages?status=queued")
    assert len(without) > 2
    assert not any(page["data"] for page in without)
    found = [
        message["phone"] for page in pages(service, f"/sends/{send}/messages?limit=1000") for message in page["data"]
    ]
    assert found == [str(254712000000 + number) for number in range(3001)]
    table = service.get(f"/sends/{send}/messages", headers={"Accept": "text/csv"})
    assert [line.split(",")[1] for line in table.text.splitlines()[1:]] == found


def test_a_later_page_does_not_examine_the_earlier_ones_again(service: Service) -> None:
    for _ in range(40):
        service.send()
    read = pages(service, "/messages?limit=10")
    with statements(service.engine) as executed:
        service.get(f"/messages?limit=10&cursor={read[-2]['next_cursor']}")
    statement, parameters = next(each for each in executed if "LATERAL" in each[0])
    assert 0 < rows_examined(service.engine, "send", statement, parameters) <= 11
    assert 0 < rows_examined(service.engine, "batch", statement, parameters) <= 11
