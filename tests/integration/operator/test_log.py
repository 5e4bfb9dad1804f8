"""Every operation that changes something leaves an entry in the audit log, with its operator and their reason."""

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import text
from werkzeug.test import TestResponse

from api.endpoint import OPERATORS
from shared.accounts.audit_log import operator as command_line
from shared.inbound import Inbound, store
from tests.harness.operator import OperatorClient
from tests.harness.prices import a_draft
from tests.harness.service import Service
from tests.harness.times import ahead
from tests.integration.operator.test_installation import FAILED
from tests.integration.operator.test_senders import NUMBERS, requested
from tests.integration.operator.test_sending import LIMIT, PHONES, report, upload

Step = Callable[[Service, OperatorClient], TestResponse]


def of_account(method: str, path: str, **body: Any) -> Step:
    def call(service: Service, operator: OperatorClient) -> TestResponse:
        return operator.call(method, f"/accounts/{service.account_id}{path}", json=body)

    return call


def new_credential() -> dict[str, Any]:
    return {"system_id": f"s{uuid4().hex[:14]}", "allowed_ips": ["192.0.2.1"]}


def of_credential(method: str, path: str, **body: Any) -> Step:
    def call(service: Service, operator: OperatorClient) -> TestResponse:
        theirs = f"/accounts/{service.account_id}/smpp-credentials"
        made = operator.post(theirs, **new_credential()).json["credential_id"]
        return operator.call(method, f"{theirs}/{made}{path}", json=body)

    return call


def of_sender(method: str, path: str, **body: Any) -> Step:
    def call(service: Service, operator: OperatorClient) -> TestResponse:
        return operator.call(method, f"/sender-ids/{requested(service, 'LOGGED')}{path}", json=body)

    return call


def of_send(*actions: str) -> Step:
    def call(service: Service, operator: OperatorClient) -> TestResponse:
        send = service.send(send_at=ahead()).json["send_id"]
        responses = [operator.post(f"/sends/{send}/{action}", reason="because") for action in actions]
        return responses[-1]

    return call


def of_carrier(method: str, path: str, **body: Any) -> Step:
    def call(service: Service, operator: OperatorClient) -> TestResponse:
        report(service, "simulator")
        return operator.call(method, path, json=body)

    return call


def reverse(service: Service, operator: OperatorClient) -> TestResponse:
    path = f"/accounts/{service.account_id}/top-ups"
    top_up = operator.post(path, credits=5, reason="a trial").json["top_up_id"]
    return operator.post(f"{path}/{top_up}/reverse", credits=5, reason="because")


def refund(kind: str) -> Step:
    def call(service: Service, operator: OperatorClient) -> TestResponse:
        subject = service.send().json[f"{kind}_id"]
        return operator.post(f"/accounts/{service.account_id}/{kind}s/{subject}/refund", reason="because")

    return call


def revoke_key(service: Service, operator: OperatorClient) -> TestResponse:
    path = f"/accounts/{service.account_id}/api-keys"
    return operator.delete(f"{path}/{operator.post(path).json['api_key']}")


def close(service: Service, operator: OperatorClient) -> TestResponse:
    account = operator.post("/accounts", name=f"closed {uuid4()}").json["account_id"]
    return operator.post(f"/accounts/{account}/close", reason="because")


def change_limit(service: Service, operator: OperatorClient) -> TestResponse:
    service.execute("DELETE FROM carrier_limit")
    service.execute(LIMIT)
    return operator.patch("/carrier-limits/sender%20ACME", rate=1, reason="because")


def a_doubt(service: Service) -> dict[str, Any]:
    return dict(service.send(str(next(PHONES))).json)


def resolve(service: Service, operator: OperatorClient) -> TestResponse:
    return operator.post(
        "/doubts/resolve", outcome="sent", reason="because", message_ids=[a_doubt(service)["message_id"]]
    )


def resolve_send(service: Service, operator: OperatorClient) -> TestResponse:
    return operator.post(f"/sends/{a_doubt(service)['send_id']}/resolve-doubts", outcome="sent", reason="because")


def reconcile(service: Service, operator: OperatorClient) -> TestResponse:
    report = f"phone,status\n{a_doubt(service)['phone']},delivered\n"
    response: TestResponse = upload(operator, report, "carrier=simulator&apply=true")
    return response


def assign(service: Service, operator: OperatorClient) -> TestResponse:
    number = str(next(NUMBERS))
    service.transact(store, "main", [Inbound("254711222555", number, "Hello")])
    operator.post(f"/sender-ids/{requested(service, number)}/approve")
    return operator.post("/inbound/assign", sent_to=number, account_id=service.account_id, reason="because")


def retry(service: Service, operator: OperatorClient) -> TestResponse:
    subject = str(uuid4())
    service.execute(FAILED, kind="erasure", subject=subject, account=None)
    return operator.post("/failed-jobs/retry", kind="erasure", subject=subject)


def release_guard(service: Service, operator: OperatorClient) -> TestResponse:
    service.execute("UPDATE installation SET held_since = now(), held_reason = 'restored'")
    return operator.post("/guard/release", reason="because", send_open=True)


def of_prices(action: str) -> Step:
    def call(service: Service, operator: OperatorClient) -> TestResponse:
        return operator.post(f"/price-versions/{a_draft(service.engine)[1]}/{action}")

    return call


def import_prices(service: Service, operator: OperatorClient) -> TestResponse:
    path = f"/price-lists/{a_draft(service.engine)[0]}/import"
    return operator.call("POST", path, data="prefix,price\n254,1\n", content_type="text/csv")


STEPS: dict[str, tuple[str, Step]] = {
    "create_price_list": ("price_list.created", lambda _, operator: operator.post("/price-lists", name=str(uuid4()))),
    "import_prices": ("price_list.uploaded", import_prices),
    "publish_price_version": ("price_list.published", of_prices("publish")),
    "withdraw_price_version": ("price_list.withdrawn", of_prices("withdraw")),
    "assign_price_list": (
        "price_list.assigned",
        lambda _, operator: operator.post("/price-assignments", account_id=None, list_id=None),
    ),
    "create_account": ("account.created", lambda _, operator: operator.post("/accounts", name=f"new {uuid4()}")),
    "update_account": ("account.changed", of_account("PATCH", "", weight=2, reason="because")),
    "suspend_account": ("account.suspended", of_account("POST", "/suspend", reason="because")),
    "activate_account": ("account.activated", of_account("POST", "/activate", reason="because")),
    "close_account": ("account.closed", close),
    "create_top_up": ("account.topped_up", of_account("POST", "/top-ups", credits=5, reason="because")),
    "create_adjustment": ("account.adjusted", of_account("POST", "/adjustments", credits=-5, reason="because")),
    "reverse_top_up": ("account.top_up_reversed", reverse),
    "refund_account_send": ("account.refunded", refund("send")),
    "refund_account_message": ("account.refunded", refund("message")),
    "create_account_api_key": ("key.created", of_account("POST", "/api-keys")),
    "revoke_account_api_key": ("key.revoked", revoke_key),
    "create_account_smpp_credential": (
        "smpp.created",
        lambda service, operator: operator.post(f"/accounts/{service.account_id}/smpp-credentials", **new_credential()),
    ),
    "update_account_smpp_credential": ("smpp.changed", of_credential("PATCH", "", rate=5)),
    "rotate_account_smpp_password": ("smpp.rotated", of_credential("POST", "/rotate")),
    "revoke_account_smpp_credential": ("smpp.revoked", of_credential("DELETE", "")),
    "replay_account_smpp": ("smpp.replayed", of_credential("POST", "/replay", since="2026-01-01T00:00:00Z")),
    "update_account_limits": ("limits.changed", of_account("PATCH", "/limits", spend_day=5, reason="because")),
    "update_account_rules": (
        "rules.changed",
        of_account("PATCH", "/rules/marketing", cap={"messages": 1, "hours": 1}),
    ),
    "request_sender_id": (
        "sender.requested",
        lambda service, operator: operator.post("/sender-ids", account_id=service.account_id, sender_id="ASKED"),
    ),
    "approve_sender_id": ("sender.approved", of_sender("POST", "/approve", reason="because")),
    "reject_sender_id": ("sender.rejected", of_sender("POST", "/reject", reason="because")),
    "suspend_sender_id": ("sender.suspended", of_sender("POST", "/suspend", reason="because")),
    "update_sender_id": ("sender.authentication_set", of_sender("PATCH", "", authentication=True)),
    "update_carrier": ("carrier.changed", of_carrier("PATCH", "/carriers/simulator", rate=5, reason="because")),
    "reset_carrier": ("carrier.reset", of_carrier("POST", "/carriers/simulator/reset", reason="because")),
    "pause_carrier": ("carrier.paused", of_carrier("POST", "/carriers/simulator/pause", reason="because")),
    "resume_carrier": ("carrier.resumed", of_carrier("POST", "/carriers/simulator/resume", reason="because")),
    "send_test_message": ("carrier.tested", of_carrier("POST", "/carriers/simulator/test", phone="254711000778")),
    "update_carrier_limit": ("carrier_limit.changed", change_limit),
    "hold_send": ("send.held", of_send("hold")),
    "release_send": ("send.released", of_send("hold", "release")),
    "cancel_send": ("send.canceled", of_send("cancel")),
    "resolve_doubts": ("doubt.resolved", resolve),
    "resolve_doubts_of_send": ("doubt.resolved", resolve_send),
    "reconcile_doubts": ("doubt.resolved", reconcile),
    "assign_inbound": ("inbound.assigned", assign),
    "retry_failed_job": ("job.retried", retry),
    "release_guard": ("guard.released", release_guard),
}
"""By the function of each operation that changes something: the kind of its entry, and how to call it."""


def by_command_line(service: Service) -> int:
    """How many entries name the user of this process, who only creates operator keys here."""
    counted = text("SELECT count(*) FROM audit_log WHERE actor = :actor AND action <> 'operator_key.created'")
    return int(service.scalar(counted, actor=command_line().name))


CHANGING = {each.function.__name__: each for each in OPERATORS.operations if each.method != "GET" and each.scope}


def test_it_works() -> None:
    assert set(STEPS) == set(CHANGING)


@pytest.mark.parametrize("function", STEPS)
def test_the_change_is_recorded_with_its_operator(service: Service, operator: OperatorClient, function: str) -> None:
    what, step = STEPS[function]
    before = by_command_line(service)
    response = step(service, operator)
    assert response.status_code == 200, response.text
    (entry, *_) = operator.get(f"/changes?actor={operator.actor}&action={what}").json["data"]
    assert (entry["action"], entry["actor"]) == (what, operator.actor)
    assert entry["request_id"] and entry["address"]
    body = CHANGING[function].body
    assert entry["reason"] == "because" or body is None or "reason" not in body().fields
    assert by_command_line(service) == before, "an actor is missing"
