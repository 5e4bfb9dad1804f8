"""What a send waits for, and until when."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from tests.harness.live_workers import report_carrier
from tests.harness.service import Service

PHONES = [str(254711000000 + number) for number in range(20)]


@pytest.fixture
def queued(service: Service) -> Iterator[tuple[Service, str]]:
    """A send of 20 messages of which no cycle has claimed any, and no worker that reports."""
    service.worker.dispatcher.stop.set()
    service.execute("DELETE FROM carrier_report")
    yield service, service.bulk(PHONES).json["send_id"]


def reported(service: Service, state: str = "ready", rate: float = 0.0, allowed: float | None = None) -> None:
    allowed = rate if allowed is None else allowed
    report_carrier(service.engine, "simulator", state=state, rate=rate, allowed=allowed)


def limited(service: Service, send: str) -> str | None:
    response: str | None = service.get(f"/sends/{send}").json["limited_by"]
    return response


def test_without_a_worker_a_send_waits_for_one(queued: tuple[Service, str]) -> None:
    assert limited(*queued) == "no_worker"


def test_a_send_behind_others_waits_for_its_turn_in_the_queue(queued: tuple[Service, str]) -> None:
    reported(queued[0])
    assert limited(*queued) == "queue_turn"
    assert [each["limited_by"] for each in queued[0].get("/sends").json["data"]] == ["queue_turn"]


@pytest.mark.parametrize(("state", "explanation"), [("paused", "carrier_paused"), ("down", "carrier_down")])
def test_a_send_waits_for_a_carrier_that_takes_nothing(
    queued: tuple[Service, str], state: str, explanation: str
) -> None:
    reported(queued[0], state)
    assert limited(*queued) == explanation


@pytest.mark.parametrize(
    ("rate", "allowed", "explanation"),
    [(0, 0, "window"), (10, 10, "carrier_rate"), (10, 5, "throttled"), (0, 5, "throttled")],
)
def test_while_it_is_sent(queued: tuple[Service, str], rate: float, allowed: float, explanation: str) -> None:
    service, send = queued
    reported(service, "ready", rate, allowed)
    service.execute("UPDATE batch SET state = 'sending', intent = 1 WHERE send_id = :send", send=send)
    assert limited(service, send) == explanation


def test_the_first_send_in_the_queue_waits_only_for_the_carriers_rate(queued: tuple[Service, str]) -> None:
    service, send = queued
    reported(service, "ready", 10.0)
    service.execute("UPDATE batch SET turn = 1 WHERE send_id = :send", send=send)
    assert limited(service, send) == "carrier_rate"
    service.execute("UPDATE batch SET turn = 3 WHERE send_id = :send", send=send)
    behind = service.bulk([str(255711000000 + number) for number in range(100)]).json["send_id"]
    service.execute("UPDATE batch SET turn = 2 WHERE send_id = :send", send=behind)
    assert limited(service, send) == "queue_turn"


def test_a_paused_or_held_send_shows_why_it_waits(queued: tuple[Service, str]) -> None:
    service, send = queued
    reported(service)
    service.post(f"/sends/{send}/pause")
    assert limited(service, send) == "paused"
    service.execute("UPDATE send SET state = 'held' WHERE id = :send", send=send)
    assert limited(service, send) == "held"


def test_a_canary_that_is_out(queued: tuple[Service, str]) -> None:
    service, send = queued
    reported(service)
    paced = "UPDATE send SET rules = :rules, paced_until = clock_timestamp() + interval '1 minute' WHERE id = :send"
    for canary, limit in ((6, "send_rate"), (5, "canary"), (20, "send_rate")):
        sending = "UPDATE batch SET state = 'sending', intent = 3 WHERE send_id = :send"
        service.execute(paced, rules=json.dumps({"canary": canary}), send=send)
        service.execute("UPDATE send SET sent = 1, failed = 1 WHERE id = :send", send=send)
        service.execute(sending, send=send)
        assert limited(service, send) == limit
    assert service.get(f"/sends/{send}").json["eta"] is not None


def test_the_estimate_counts_what_is_before_it_in_the_queue(queued: tuple[Service, str]) -> None:
    service, _ = queued
    behind = service.bulk([str(255711000000 + number) for number in range(100)]).json["send_id"]
    reported(service, "ready", 10.0)
    begun = datetime.now(UTC)
    seconds = (datetime.fromisoformat(service.get(f"/sends/{behind}").json["eta"]) - begun).total_seconds()
    assert 12 - 1 <= seconds <= 12 + 60
    response = service.get("/limits").json
    assert response["backlog_limited_by"] == "queue_turn"
    assert response["backlog_messages"] == 120
    assert response["backlog_eta"].endswith("Z")


def test_a_send_in_quiet_hours_has_no_estimate(queued: tuple[Service, str]) -> None:
    """Its progress so far says nothing of it."""
    service, send = queued
    reported(service)
    half = "UPDATE send SET sent = accepted / 2, created_at = created_at - interval '1 minute' WHERE id = :send"
    service.execute(half, send=send)
    service.execute("UPDATE batch SET state = 'waiting' WHERE send_id = :send", send=send)
    assert service.get(f"/sends/{send}").json["eta"] is not None
    service.execute("""UPDATE send SET rules = '{"quiet": [0, 1]}' WHERE id = :send""", send=send)
    shown = service.get(f"/sends/{send}").json
    assert (shown["limited_by"], shown["eta"]) == ("quiet_hours", None)
