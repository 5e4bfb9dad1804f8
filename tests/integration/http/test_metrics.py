"""What an operator's monitoring reads."""

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from prometheus_client.metrics_core import Metric
from sqlalchemy import Engine, func, text, update

import shared.ids
from api.metrics import counts
from api.metrics.counts import count_when_due
from api.metrics.installation import InstallationCollector
from shared.audit.check import Breach
from shared.audit.results import record_audit
from shared.db.tables.running import state_count
from shared.health.doctor import HELD, audit_finding
from shared.observability.metrics import PROCESS
from shared.observability.metrics_server import is_authorized
from shared.sends.holding import HeldBy, hold_sends
from tests.harness.live_workers import report_carriers
from tests.harness.service import Service
from tests.harness.statements import statements
from tests.harness.times import ahead
from worker.jobs.auditor import audit_when_due

TOKEN = "monitoring-token"
DOCUMENT = Path(shared.ids.__file__).parents[1] / "docs" / "reference" / "metrics.md"
ROW = re.compile(r"^\| `(bulksms_\w+)` \|(?: (counter|gauge|histogram) \|)? ([^|]*) \| (.+) \|$", re.MULTILINE)


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was counted is not counted again before a test says so."""
    monkeypatch.setattr(counts, "COUNT_SECONDS", 3600.0)


@pytest.fixture
def service(engine: Engine) -> Service:
    return Service(engine, metrics_token=TOKEN)


def scrape(service: Service) -> dict[str, float]:
    """The metrics, with what has been counted now."""
    count_now(service.engine)
    return scrape_as_it_is(service)


def count_now(engine: Engine) -> None:
    with engine.begin() as connection:
        connection.execute(update(state_count).values(due_at=func.now()))
    assert count_when_due(engine)


def scrape_as_it_is(service: Service) -> dict[str, float]:
    response = service.client.get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
    assert response.status_code == 200
    lines = (line.rsplit(" ", 1) for line in response.text.splitlines() if not line.startswith("#"))
    return {name: float(value) for name, value in lines}


def report_alone(service: Service) -> None:
    """Let the worker report its carriers, as the only one."""
    service.execute("DELETE FROM carrier_report")
    report_carriers(service.worker)


def counted(name: str, **labels: str) -> float:
    return PROCESS.get_sample_value(name, labels) or 0.0


def test_the_state_of_the_installation(service: Service) -> None:
    service.send(phone="99906000001")
    report_alone(service)
    lines = scrape(service)
    assert lines['bulksms_messages_in_doubt{carrier="simulator"}'] >= 1
    assert lines['bulksms_oldest_doubt_seconds{carrier="simulator"}'] >= 0
    assert lines["bulksms_accounts_frozen"] == lines["bulksms_guard_held"] == 0
    assert lines['bulksms_carrier_workers{carrier="simulator",state="ready"}'] == 1
    assert lines['bulksms_carrier_workers{carrier="simulator",state="down"}'] == 0
    assert lines['bulksms_carrier_window{carrier="simulator"}'] == 400
    assert lines['bulksms_carrier_unreadable{carrier="simulator"}'] == 0
    assert lines['bulksms_carrier_unmatched_responses{carrier="simulator"}'] == 0
    assert lines["bulksms_receipts_unreadable"] == 0
    assert lines['bulksms_carrier_allowed_rate{carrier="simulator"}'] == 0
    assert lines['bulksms_oldest_queued_seconds{category="authentication"}'] == 0
    assert lines["bulksms_deliveries_pending"] == lines["bulksms_webhooks_failing"] == 0
    assert lines["bulksms_credits_reserved"] >= 1
    assert lines["bulksms_credits_available"] > 900


def test_receipts_are_counted_by_their_age(service: Service) -> None:
    """Of those whose rows are deleted after some days, others may come at the same rate."""
    before = scrape(service)
    for minutes in (5, 30, 40, 120):
        moment = datetime.now(UTC) - timedelta(minutes=minutes)
        service.execute(
            """INSERT INTO receipt (carrier, reference, status, done_at, received_at)
               VALUES ('simulator', 'none', 'delivered', :moment, :moment)""",
            moment=moment,
        )
        service.execute(
            """INSERT INTO unreadable_receipt (carrier, reason, octets, received_at)
               VALUES ('simulator', 'malformed', '', :moment)""",
            moment=moment,
        )
    after = scrape(service)
    names = ("bulksms_receipts_unmatched", "bulksms_receipts_unreadable")
    assert [after[name] - before[name] for name in names] == [2, 3]
    service.execute("DELETE FROM receipt WHERE reference = 'none'")
    service.execute("DELETE FROM unreadable_receipt WHERE octets = ''")


def test_scheduled_batches_and_their_messages_are_counted(service: Service) -> None:
    label = 'carrier="",category="transactional",state="scheduled"'
    before = scrape(service)
    phones = [str(254711000000 + number) for number in range(30)]
    service.bulk(phones, send_at=ahead())
    lines = scrape(service)
    for name, more in (("bulksms_batches", 1), ("bulksms_batch_messages", 30)):
        assert lines[f"{name}{{{label}}}"] == before.get(f"{name}{{{label}}}", 0) + more


def test_messages_by_status_carrier_category_and_country(service: Service) -> None:
    def messages(status: str, country: str = "KE") -> float:
        labels = {"status": status, "carrier": "simulator", "category": "transactional", "country": country}
        return counted("bulksms_messages_total", **labels)

    def all_counts() -> list[float]:
        return [
            counted("bulksms_accepted_messages_total", category="transactional", country="KE"),
            counted("bulksms_accepted_messages_total", category="transactional", country="UG"),
            counted("bulksms_receipt_delay_seconds_count", carrier="simulator", category="transactional"),
            messages("sent"),
            messages("delivered"),
            messages("delivered", "UG"),
            counted("bulksms_carrier_responses_total", carrier="simulator", response="accepted"),
            counted("bulksms_carrier_segments_total", carrier="simulator"),
            counted("bulksms_submit_delay_seconds_count", category="transactional"),
            counted("bulksms_commit_sends_sum"),
        ]

    service.deliver_receipts()  # of earlier tests
    before = all_counts()
    service.bulk(["254711000000", "254711000001"], "a" * 200)
    service.send(phone="256700000000")
    service.deliver_receipts()
    after = all_counts()
    assert [now - then for now, then in zip(after, before, strict=True)] == [2, 1, 3, 2, 2, 1, 3, 5, 2, 2]


def test_sends_of_test_keys_are_not_counted(service: Service) -> None:
    def accepted_and_segments() -> tuple[float, float]:
        accepted = counted("bulksms_accepted_messages_total", category="transactional", country="KE")
        return accepted, counted("bulksms_carrier_segments_total", carrier="simulator")

    before = accepted_and_segments()
    service.in_sandbox().send(phone="254711000000")
    assert accepted_and_segments() == before


def test_the_last_audit_is_that_of_the_installation(service: Service) -> None:
    name = "bulksms_audit_completed_timestamp_seconds"
    service.execute("DELETE FROM audit_result")
    assert name not in scrape(service)
    assert audit_when_due(service.worker.audit_engine)
    service.worker.audit_engine.dispose()
    completed = service.scalar("SELECT extract(epoch FROM completed_at) FROM audit_result")
    assert scrape(service)[name] == pytest.approx(float(completed))


def test_breaches_that_an_audit_found_are_told_for_a_day(service: Service) -> None:
    def told() -> tuple[float, str]:
        return scrape(service)["bulksms_audit_breaches"], service.transact(audit_finding).outcome

    service.execute("DELETE FROM audit_result")
    breaches = [Breach("zero_sum", "all accounts", "1 credit"), Breach("worlds", "a send", "a test")]
    for found in ((), breaches, ()):
        service.transact(record_audit, datetime.now(UTC), False, found, ())
    assert told() == (2, "wrong")
    service.execute("UPDATE audit_result SET completed_at = completed_at - interval '25 hours'")
    assert told() == (0, "ok")


IN_STATES = """
    UPDATE batch b SET state = CAST(:state AS batch_state), due_at = now() + :ahead * interval '1 second',
                       attempts = :attempts, carrier = :carrier
      FROM send s WHERE s.id = b.send_id AND s.id = :send
"""
RULES_OF_SEND = "UPDATE send SET rate = :rate, rules = CAST(:rules AS jsonb), send_at = NULL WHERE id = :send"


@pytest.mark.parametrize(
    ("reason", "batch", "send"),
    [
        ("queued", {}, {}),
        ("limit", {"carrier": "main/sender ACME"}, {}),
        ("rate", {}, {"rate": 5}),
        ("quiet_hours", {"state": "waiting", "ahead": 60}, {"rules": '{"quiet": [0, 1]}'}),
        ("retry", {"state": "waiting", "ahead": 60, "attempts": 1}, {}),
        ("awaiting_carrier", {"state": "waiting", "ahead": 60, "carrier": "main"}, {}),
        ("paused", {"state": "paused"}, {}),
        ("held", {"state": "held"}, {}),
    ],
)
def test_batches_are_counted_by_what_they_wait_for(
    service: Service, reason: str, batch: dict[str, Any], send: dict[str, Any]
) -> None:
    made = service.bulk(["254711000000", "254711000001"], send_at=ahead(), category="marketing").json["send_id"]
    with service.engine.begin() as connection:
        values = {"state": "queued", "ahead": -40, "attempts": 0, "carrier": None, "send": made} | batch
        connection.execute(text(IN_STATES), values)
        connection.execute(text(RULES_OF_SEND), {"rate": None, "rules": None, "send": made} | send)
    lines = scrape(service)
    service.execute(IN_STATES, **{**values, "state": "canceled"})  # no test is disturbed by it
    carrier = "main" if "carrier" in batch else ""
    assert lines[f'bulksms_batch_messages{{carrier="{carrier}",category="marketing",state="{reason}"}}'] == 2
    waits = reason in ("queued", "limit")
    assert (lines['bulksms_oldest_queued_seconds{category="marketing"}'] >= 40) == waits
    assert lines['bulksms_oldest_single_queued_seconds{category="marketing"}'] == 0


@pytest.mark.parametrize(
    ("held_by", "waits"), [("operator", 1), ("crashes", 1), ("sender_id", 0), ("canary", 0), ("stop_if", 0)]
)
def test_held_sends_are_counted_if_only_an_operator_can_release_them(
    service: Service, held_by: HeldBy, waits: int
) -> None:
    def counts() -> tuple[float, int]:
        return scrape(service)["bulksms_sends_held"], service.scalar(HELD)

    send = UUID(service.send(send_at=ahead()).json["send_id"])
    scraped, found = counts()
    assert service.transact(hold_sends, [send], held_by, "A trial.")
    assert counts() == (scraped + waits, found + waits)
    assert service.post(f"/sends/{send}/cancel").status_code == 200
    assert counts() == (scraped, found)


DO_NOT_GROW = {"state_count", "carrier_report", "audit_result", "lease", "installation"}
"""Tables with a row for each process, carrier or hour, of which no more than a thousand are kept."""


def test_a_scrape_reads_no_table_that_grows(service: Service) -> None:
    count_now(service.engine)
    with statements(service.api_engine) as executed:
        scrape_as_it_is(service)
    assert len(executed) > 5
    with service.engine.connect() as connection:
        for statement, parameters in executed:
            plan = connection.exec_driver_sql(f"EXPLAIN (FORMAT JSON) {statement}", parameters).scalar_one()
            assert relations(plan[0]["Plan"]) <= DO_NOT_GROW, statement


def relations(plan: dict[str, Any]) -> set[str]:
    """The tables that a plan reads."""
    names = {plan["Relation Name"]} if "Relation Name" in plan else set()
    return names.union(*(relations(part) for part in plan.get("Plans", ())))


def test_it_is_not_public(service: Service) -> None:
    for headers in ({}, {"Authorization": "Bearer guessed"}, {"Authorization": f"Bearer {service.token}"}):
        response = service.client.get("/metrics", headers=headers)
        assert (response.status_code, response.json["code"]) == (404, "not_found")


def families(service: Service) -> Iterable[Metric]:
    yield from PROCESS.collect()
    yield from InstallationCollector(service.engine).collect()


def documented(family: Metric) -> Iterator[tuple[str, str]]:
    """The family's name and description in the table."""
    yield family.name + ("_total" if family.type == "counter" else ""), family.documentation


def test_the_document_lists_every_metric_as_it_is(service: Service) -> None:
    service.send(phone="99906000001")
    report_alone(service)
    rows = {name: (kind, labels, meaning) for name, kind, labels, meaning in ROW.findall(DOCUMENT.read_text())}
    exposed = {name: family for family in families(service) for name, _ in documented(family)}
    assert rows.keys() == exposed.keys()
    for name, family in exposed.items():
        kind, labels, meaning = rows[name]
        assert meaning == family.documentation, name
        assert kind in ("", family.type), name
        for sample in family.samples:
            assert {*re.findall(r"`(\w+)`", labels)} == sample.labels.keys() - {"le"}, name


@pytest.mark.parametrize("given", ["", "Bearer ", "Bearer x"])
def test_without_a_configured_token_nobody_sees_metrics(given: str) -> None:
    assert not is_authorized(given, "")
