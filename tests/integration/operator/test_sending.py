"""Carriers, the queue, sends and doubts by the operator API."""

import io
import itertools
from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import text

from shared.accounts.operator_keys import revoke_operator_key
from shared.audit.check import audit
from tests.harness.live_workers import report_carrier
from tests.harness.operator import PREFIX, OperatorClient
from tests.harness.service import Service
from tests.harness.times import ahead

LIMIT = text(
    "INSERT INTO carrier_limit (name, rate, reported_at) VALUES ('sender ACME', 10, now() + interval '1 hour')"
)
PHONES = itertools.count(99_906_300_001)
"""The simulated carrier leaves messages to these in doubt."""
SILENT, REFUSED = 99909_000_0000, 99902_000_0000
"""It sends no receipts for messages to these, and refuses them."""


@pytest.fixture
def carrier(service: Service) -> Iterator[str]:
    """A carrier that a worker reports."""
    report(service)
    yield "simulator"
    for table in ("carrier_report", "carrier_setting", "carrier_limit"):
        service.execute(f"DELETE FROM {table}")


def report(service: Service, state: str = "ready") -> None:
    report_carrier(service.engine, "simulator", state=state, rate=100, allowed=70)


def setting(service: Service) -> Any:
    return service.row('SELECT rate, "window", paused FROM carrier_setting')


def test_it_works(operator: OperatorClient, carrier: str) -> None:
    (shown,) = operator.get("/carriers").json["data"]
    assert (shown["carrier"], shown["status"], shown["rate"], shown["allowed_rate"]) == ("simulator", "ready", 100, 70)
    assert operator.get("/carriers/simulator").json == shown


def test_a_carrier_is_paced_paused_and_resumed(service: Service, operator: OperatorClient, carrier: str) -> None:
    assert operator.patch("/carriers/simulator", rate=50, window=5, reason="they asked").status_code == 200
    assert tuple(setting(service)) == (50, 5, False)
    paused = operator.post("/carriers/simulator/pause", reason="maintenance")
    assert (paused.status_code, paused.json["status"], paused.json["paused"]) == (200, "paused", True)
    report(service, "paused")
    assert operator.post("/carriers/simulator/pause").status_code == 400
    assert setting(service).paused
    resumed = operator.post("/carriers/simulator/resume", key="once")
    assert (resumed.status_code, resumed.json["status"], resumed.json["paused"]) == (200, "paused", False)
    report(service)
    assert operator.get("/carriers/simulator").json["status"] == "ready"
    assert operator.post("/carriers/simulator/reset").status_code == 200
    assert tuple(setting(service)) == (None, None, False)
    for wrong in ({}, {"rate": -1}, {"rate": "fast"}, {"window": 0}, {"rate": 10**9}):
        assert operator.patch("/carriers/simulator", **wrong).status_code == 400
    assert operator.post("/carriers/nobodys/pause", reason="x").status_code == 404
    (logged,) = operator.get(f"/changes?action=carrier.changed&actor={operator.actor}").json["data"]
    assert logged["after"] == {"rate": 50, "window": 5}


def test_a_rate_limit_is_changed(service: Service, operator: OperatorClient, carrier: str) -> None:
    service.execute(LIMIT)
    path = "/carrier-limits/sender%20ACME"
    assert operator.patch(path, rate=5).json["rate"] == 5
    assert operator.patch(path, rate=None).json["rate"] == 10
    assert [each["limit_name"] for each in operator.get("/carrier-limits").json["data"]] == ["sender ACME"]
    assert operator.patch("/carrier-limits/sender%20NOBODY", rate=5).status_code == 404


def test_a_test_message_goes_once_through_its_carrier(service: Service, operator: OperatorClient, carrier: str) -> None:
    body = {"phone": "254711000777", "sender_id": "TRIAL", "message": "Does it work?"}
    sent = operator.post("/carriers/simulator/test", key="trial", **body)
    assert sent.status_code == 200, sent.text
    assert operator.post("/carriers/simulator/test", key="trial", **body).json == sent.json
    logged = operator.get(f"/changes?action=carrier.tested&actor={operator.actor}").json["data"]
    assert [each["after"]["send_id"] for each in logged].count(sent.json["send_id"]) == 1
    service.sweep()
    shown = operator.get(f"/sends/{sent.json['send_id']}").json
    assert (shown["account"], shown["carrier"], shown["status"]) == ("carrier-test", "simulator", "completed")
    assert service.submitted()["254711000777"] == 1
    assert operator.post("/carriers/nobodys/test", **body).status_code == 404
    assert operator.post("/carriers/simulator/test", phone="0711").status_code == 400


@pytest.mark.parametrize("changed", [{"sender_id": "TRIAL"}, {"message": "Buy now"}], ids=["sender ID", "text"])
@pytest.mark.parametrize("missing", ["senders", "money"])
def test_a_test_message_of_ones_own_needs_further_scopes(
    service: Service, carrier: str, missing: str, changed: dict[str, str]
) -> None:
    operator = OperatorClient(service, "carriers", *{"senders", "money"} - {missing})
    body = {"phone": "254711000776"}
    refused = operator.post("/carriers/simulator/test", **body, **changed)
    assert (refused.status_code, refused.json["code"], refused.json["scope"]) == (403, "insufficient_scope", missing)
    assert operator.post("/carriers/simulator/test", **body).status_code == 200


def test_a_test_message_is_paid_for_whatever_a_segment_costs(
    service: Service, operator: OperatorClient, carrier: str
) -> None:
    body = {"phone": "254711000778", "sender_id": "TRIAL", "message": "x" * 200}
    assert operator.post("/carriers/simulator/test", **body).status_code == 200
    account = service.scalar("SELECT id FROM account WHERE name = 'carrier-test'")
    service.set_prices(("", "254", 5_000), name="dear", account=account)
    dear = operator.post("/carriers/simulator/test", **body)
    assert dear.status_code == 200, dear.text


def test_an_operator_who_has_just_been_revoked_sends_no_test_message(service: Service, carrier: str) -> None:
    """Not even through a process that has not heard of it yet."""
    operator = OperatorClient(service)
    service.transact(revoke_operator_key, operator.key_id)
    body = {"phone": "254711000779", "sender_id": "TRIAL", "message": "Does it work?"}
    refused = operator.post("/carriers/simulator/test", key="trial", **body)
    assert (refused.status_code, refused.json["code"]) == (401, "token_revoked")
    assert "254711000779" not in service.submitted()


def test_sends_are_held_released_and_canceled(service: Service, operator: OperatorClient) -> None:
    send = service.send(message="A secret text", send_at=ahead()).json["send_id"]
    held = operator.post(f"/sends/{send}/hold", reason="looks like fraud")
    hold = {"status": "held", "held_by": "operator", "held_reason": "looks like fraud"}
    assert held.json == held.json | hold
    assert "A secret text" not in held.text
    assert service.post(f"/sends/{send}/resume").json["code"] == "state_conflict"
    assert operator.post(f"/sends/{send}/hold", reason="again").json["code"] == "state_conflict"
    assert [each["send_id"] for each in operator.get("/sends?status=held").json["data"]] == [send]
    assert operator.post(f"/sends/{send}/release", reason="no fraud").json["status"] == "scheduled"
    assert operator.post(f"/sends/{send}/cancel", reason="the account asked").json["status"] == "canceled"
    assert service.get("/balance").json["balance"] == 1000
    assert operator.get(f"/sends/{send}").json["counts"]["canceled"] == 1
    listed = operator.get(f"/sends?account_id={service.account_id}&limit=1").json
    assert [each["send_id"] for each in listed["data"]] == [send]
    assert operator.get(f"/sends?account_id={service.account_id}&open=true").json["data"] == []
    assert audit(service.engine, full=True) == []


def doubts(service: Service) -> list[dict[str, Any]]:
    return list(service.bulk([str(next(PHONES)), str(next(PHONES))]).json["messages"])


def test_doubts_are_listed_with_hidden_phones(service: Service, operator: OperatorClient) -> None:
    first, second = doubts(service)
    send = service.get(f"/messages/{first['message_id']}").json["send_id"]
    listed = operator.get(f"/doubts?send_id={send}&limit=1").json
    following = operator.get(f"/doubts?send_id={send}&limit=1&cursor={listed['next_cursor']}").json
    ids = [each["message_id"] for each in listed["data"] + following["data"]]
    assert ids == [first["message_id"], second["message_id"]]
    assert listed["data"][0]["phone"] == first["phone"]
    assert first["phone"] not in OperatorClient(service, "read").get(f"/doubts?send_id={send}").text


def test_doubts_are_resolved_once(service: Service, operator: OperatorClient) -> None:
    first, second = (each["message_id"] for each in doubts(service))
    resolved = operator.post("/doubts/resolve", key="once", outcome="sent", message_ids=[first]).json
    assert resolved == {"resolved": 1, "not_in_doubt": []}
    assert operator.post("/doubts/resolve", key="once", outcome="sent", message_ids=[first]).json == resolved
    again = operator.post("/doubts/resolve", outcome="not-sent", message_ids=[first])
    assert (again.status_code, again.json["code"]) == (409, "state_conflict")
    assert operator.post("/doubts/resolve", outcome="lost", message_ids=[second]).status_code == 400
    send = service.get(f"/messages/{second}").json["send_id"]
    assert operator.post(f"/sends/{send}/resolve-doubts", outcome="not-sent", reason="asked them").json["resolved"] == 1
    assert service.get("/balance").json["balance"] == 999
    logged = operator.get(f"/changes?action=doubt&actor={operator.actor}").json["data"]
    assert [each["after"]["status"] for each in logged] == ["failed", "sent"]
    assert audit(service.engine, full=True) == []


def upload(operator: OperatorClient, report: str, query: str, **more: Any) -> Any:
    headers = {"Content-Type": "text/csv", **more}
    return operator.call("POST", f"/doubts/reconcile?{query}", headers, data=report.encode())


def test_a_carriers_report_resolves_doubts(service: Service, operator: OperatorClient) -> None:
    first, second = doubts(service)
    total = len(operator.get("/doubts?carrier=simulator&limit=1000").json["data"])
    report = f"phone,status\n{first['phone']},delivered\n{second['phone']},no such status\n0x,delivered\n"
    tried = upload(operator, report, "carrier=simulator")
    assert tried.status_code == 200, tried.text
    assert (tried.json["matched"], tried.json["resolved"], tried.json["left_in_doubt"]) == ({"delivered": 1}, 0, total)
    assert [each["line"] for each in tried.json["unreadable_lines"]] == [3, 4]
    applied = upload(operator, report, "carrier=simulator&apply=true", **{"Idempotency-Key": "march"})
    assert (applied.json["resolved"], applied.json["left_in_doubt"]) == (1, total - 1)
    assert upload(operator, report, "carrier=simulator&apply=true", **{"Idempotency-Key": "march"}).json == applied.json
    assert service.get(f"/messages/{first['message_id']}").json["status"] == "delivered"
    assert service.get(f"/messages/{second['message_id']}").json["status"] == "in_doubt"


def test_a_hundred_lines_of_a_report_are_shown(service: Service, operator: OperatorClient) -> None:
    first, _ = doubts(service)
    report = "phone,status\n" + f"{first['phone']},delivered\n" * 101 + "0x,delivered\n" * 101
    tried = upload(operator, report, "carrier=simulator").json
    assert tried["ambiguous_lines"] == list(range(2, 102))
    assert [each["line"] for each in tried["unreadable_lines"]] == list(range(103, 203))


@pytest.mark.parametrize("over", [False, True])
@pytest.mark.parametrize("announced", [False, True])
def test_a_report_may_have_eight_megabytes(
    service: Service, operator: OperatorClient, over: bool, announced: bool
) -> None:
    content = (b"phone,status\n" + (b" " * 999 + b"\n") * 9_000)[: 8 * 1024 * 1024 + over]
    chunked = {"wsgi.input": io.BytesIO(content), "wsgi.input_terminated": True}
    response = service.client.post(
        f"{PREFIX}/doubts/reconcile?carrier=simulator",
        data=content if announced else None,
        content_type="text/csv",
        headers={"Authorization": f"Bearer {operator.token}"},
        environ_overrides={} if announced else chunked,
    )
    assert response.status_code == (413 if over else 200), response.text


@pytest.mark.parametrize(
    "report", ["", "nothing\n1\n", "phone,status\n\x00,sent\n", 'phone,status\n"', "phone,status\n" + "9" * 200_000]
)
def test_an_invalid_report_is_refused(service: Service, operator: OperatorClient, report: str) -> None:
    assert upload(operator, report, "carrier=simulator&apply=true").status_code in (200, 400)
    assert upload(operator, report, "apply=true").status_code == 400
    assert upload(operator, report, "carrier=simulator&apply=yes").status_code == 400, "as in the other API"


@pytest.mark.parametrize("rule", ["canary", "stop_if"])
def test_a_send_that_its_own_rule_holds_can_be_held(service: Service, operator: OperatorClient, rule: str) -> None:
    """Neither its receipts nor its owner let it go on then."""
    phones = [str(254711000000 + number) for number in range(20)]
    send = service.bulk(phones, canary=5).json["send_id"]
    service.sweep()
    service.execute("UPDATE send SET held_by = :rule WHERE id = :send", rule=rule, send=send)
    held = operator.post(f"/sends/{send}/hold", reason="looks like fraud").json
    assert (held["held_by"], held["held_reason"]) == ("operator", "looks like fraud")
    service.deliver_receipts()
    service.sweep()
    assert service.post(f"/sends/{send}/resume").json["code"] == "state_conflict"
    assert service.counts(send)["queued"] == 15


@pytest.mark.parametrize(
    ("phones", "rule"),
    [(SILENT, {"canary": 5}), (REFUSED, {"stop_if": {"failed_share": 0.5, "min_messages": 5}})],
    ids=["canary", "stop_if"],
)
def test_a_send_that_is_released_from_its_own_rule_goes_on(
    service: Service, operator: OperatorClient, phones: int, rule: dict[str, Any]
) -> None:
    send = service.bulk([str(phones + number) for number in range(20)], **rule).json["send_id"]
    service.sweep()
    held_by = operator.get(f"/sends/{send}").json["held_by"]
    assert operator.post(f"/sends/{send}/release").json["held_by"] is None
    service.sweep()
    assert held_by in rule and "queued" not in service.counts(send)
