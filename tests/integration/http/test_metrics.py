"""What an operator's monitoring reads."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from prometheus_client.metrics_core import Metric
from sqlalchemy import Engine

import shared.ids
from api.metrics.installation import InstallationCollector
from shared.metrics import PROCESS
from tests.harness.service import Service
from tests.harness.times import ahead

TOKEN = "monitoring-token"
DOCUMENT = Path(shared.ids.__file__).parents[1] / "docs" / "reference" / "metrics.md"
ROW = re.compile(r"^\| `(bulksms_\w+)` \|(?: (counter|gauge|histogram) \|)? ([^|]*) \| (.+) \|$", re.MULTILINE)


@pytest.fixture
def service(engine: Engine) -> Service:
    return Service(engine, metrics_token=TOKEN)


def scrape(service: Service) -> dict[str, float]:
    answer = service.client.get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
    assert answer.status_code == 200
    lines = (line.rsplit(" ", 1) for line in answer.text.splitlines() if not line.startswith("#"))
    return {name: float(value) for name, value in lines}


def counted(name: str, **labels: str) -> float:
    return PROCESS.get_sample_value(name, labels) or 0.0


def test_the_state_of_the_installation(service: Service) -> None:
    service.send(phone="99906000001")
    service.worker.carrier_status.refresh()
    lines = scrape(service)
    assert lines['bulksms_messages_in_doubt{carrier="simulator"}'] >= 1
    assert lines['bulksms_oldest_doubt_seconds{carrier="simulator"}'] >= 0
    assert lines["bulksms_accounts_frozen"] == lines["bulksms_guard_held"] == 0
    assert lines['bulksms_carrier_workers{carrier="simulator",state="ready"}'] == 1
    assert lines['bulksms_carrier_workers{carrier="simulator",state="down"}'] == 0
    assert lines['bulksms_carrier_window{carrier="simulator"}'] == 400
    assert lines['bulksms_carrier_unreadable{carrier="simulator"}'] == 0
    assert lines['bulksms_carrier_unknown_answers{carrier="simulator"}'] == 0
    assert lines["bulksms_receipts_unreadable"] == 0
    assert lines['bulksms_carrier_allowed_rate{carrier="simulator"}'] == 0
    assert lines['bulksms_oldest_queued_seconds{category="authentication"}'] == 0
    assert lines["bulksms_deliveries_pending"] == lines["bulksms_webhooks_failing"] == 0
    assert lines["bulksms_credits_reserved"] >= 1
    assert lines["bulksms_credits_available"] > 900


def test_unfinished_batches_by_what_they_wait_for(service: Service) -> None:
    label = 'carrier="",category="transactional",state="waiting"'
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
            counted("bulksms_accepted_messages_total", category="transactional"),
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
    assert [now - then for now, then in zip(after, before, strict=True)] == [3, 2, 2, 1, 3, 5, 2, 2]
    assert counted("bulksms_receipt_delay_seconds_count", carrier="simulator") >= 2


def test_sends_of_test_keys_are_not_counted(service: Service) -> None:
    def accepted_and_segments() -> tuple[float, float]:
        accepted = counted("bulksms_accepted_messages_total", category="transactional")
        return accepted, counted("bulksms_carrier_segments_total", carrier="simulator")

    before = accepted_and_segments()
    service.in_sandbox().send(phone="254711000000")
    assert accepted_and_segments() == before


def test_it_is_not_public(service: Service) -> None:
    for headers in ({}, {"Authorization": "Bearer guessed"}, {"Authorization": f"Bearer {service.token}"}):
        answer = service.client.get("/metrics", headers=headers)
        assert (answer.status_code, answer.json["code"]) == (404, "not_found")


def families(service: Service) -> Iterable[Metric]:
    yield from PROCESS.collect()
    yield from InstallationCollector(service.engine).collect()


def documented(family: Metric) -> Iterator[tuple[str, str]]:
    """The family's name and description in the table."""
    yield family.name + ("_total" if family.type == "counter" else ""), family.documentation


def test_the_document_lists_every_metric_as_it_is(service: Service) -> None:
    service.send(phone="99906000001")
    service.worker.carrier_status.refresh()
    rows = {name: (kind, labels, meaning) for name, kind, labels, meaning in ROW.findall(DOCUMENT.read_text())}
    exposed = {name: family for family in families(service) for name, _ in documented(family)}
    assert rows.keys() == exposed.keys()
    for name, family in exposed.items():
        kind, labels, meaning = rows[name]
        assert meaning == family.documentation, name
        assert kind in ("", family.type), name
        for sample in family.samples:
            assert {*re.findall(r"`(\w+)`", labels)} == sample.labels.keys() - {"le"}, name
