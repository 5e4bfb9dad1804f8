"""The presets, each against a server with the documented shapes of its carrier's API."""

import base64
import contextlib
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.harness.http_carrier import HttpPeer, Reply, Request, http_peer, json_reply
from tests.unit.carriers.http.test_config import preset
from tests.unit.carriers.smpp.making import KeptInbox, message_group
from worker.carriers.base import Outcome, ResponseKind
from worker.carriers.http import HttpCarrier

PHONE, OTHER = "254711000000", "254711000001"


@contextlib.contextmanager
def against(
    name: str, respond: Callable[[Request], Reply], path: str, **settings: Any
) -> Iterator[tuple[HttpPeer, HttpCarrier]]:
    """The driver with a preset, its address being the server's."""
    with http_peer(respond) as peer:
        made = HttpCarrier(preset(name, request={"url": peer.url(path)}))
        made.open(KeptInbox())
        try:
            yield peer, made
        finally:
            made.close()


def one(made: HttpCarrier) -> Outcome:
    (outcome,) = made.submit([message_group("Hello", [PHONE])])
    return outcome


TWILIO = "/2010-04-01/Accounts/{account_sid}/Messages.json"


def test_twilio_takes_a_message() -> None:
    def respond(request: Request) -> Reply:
        made = {
            "sid": "SM" + "0" * 32,
            "status": "queued",
            "to": request.form["To"],
            "error_code": None,
            "num_segments": "1",
        }
        return json_reply(made, 201)

    with against("twilio", respond, TWILIO) as (peer, made):
        assert one(made) == Outcome(ResponseKind.ACCEPTED, "SM" + "0" * 32)
    (request,) = peer.requests
    assert request.path == "/2010-04-01/Accounts/AC1/Messages.json"
    assert request.headers["authorization"] == "Basic " + base64.b64encode(b"AC1:t").decode()
    assert {name: request.form[name] for name in ("To", "From", "Body", "StatusCallback")} == {
        "To": "+" + PHONE,
        "From": "ACME",
        "Body": "Hello",
        "StatusCallback": "https://sms.example.com/carriers/web/receipts",
    }
    assert request.form["ValidityPeriod"] == "36000"


@pytest.mark.parametrize(
    ("sender", "submitted"), [("254722000111", "+254722000111"), ("+254722000111", "+254722000111"), ("22395", "22395")]
)
def test_twilio_gets_a_number_with_its_plus(sender: str, submitted: str) -> None:
    with against("twilio", lambda request: json_reply({"sid": "SM1", "status": "queued"}, 201), TWILIO) as (peer, made):
        made.submit([message_group("Hello", [PHONE], sender=sender)])
    assert peer.requests[0].form["From"] == submitted


def test_validity_is_what_each_carrier_takes() -> None:
    soon = datetime.now(UTC) + timedelta(seconds=5)
    with against("twilio", lambda request: json_reply({"sid": "SM1", "status": "queued"}, 201), TWILIO) as (peer, made):
        made.submit([message_group("Hello", [PHONE], expires_at=soon)])
    assert 1 <= int(peer.requests[0].form["ValidityPeriod"]) <= 5
    with against("vonage", lambda request: json_reply({"message_uuid": "1"}, 202), "/v1/messages") as (peer, made):
        made.submit([message_group("Hello", [PHONE], expires_at=soon), message_group("Hello", [PHONE])])
    soonest, latest = sorted(request.json["ttl"] for request in peer.requests)
    assert soonest == 20
    assert 3 * 86_400 - 60 <= latest <= 3 * 86_400


@pytest.mark.parametrize(
    ("status", "code", "response", "error"),
    [
        (400, 21211, ResponseKind.REJECTED, "invalid_recipient=21211"),
        (400, 21610, ResponseKind.REJECTED, "recipient_opted_out=21610"),
        (400, 21611, ResponseKind.POSTPONED, "throttled=21611"),
        (429, 20429, ResponseKind.THROTTLED, "20429"),
        (401, 20003, ResponseKind.THROTTLED, "20003"),
        (400, 99999, ResponseKind.REJECTED, "99999"),
        (500, 20500, ResponseKind.IN_DOUBT, "20500"),
    ],
)
def test_twilio_refuses(status: int, code: int, response: ResponseKind, error: str) -> None:
    reply = json_reply({"code": code, "message": "no", "more_info": "https://example.com", "status": status}, status)
    with against("twilio", lambda request: reply, TWILIO) as (_, made):
        assert one(made) == Outcome(response, error=error)


def test_vonage_takes_a_message() -> None:
    identity = "aaaaaaaa-bbbb-cccc-dddd-0123456789ab"
    with against("vonage", lambda request: json_reply({"message_uuid": identity}, 202), "/v1/messages") as (peer, made):
        assert one(made) == Outcome(ResponseKind.ACCEPTED, identity)
    (request,) = peer.requests
    assert request.headers["authorization"] == "Basic " + base64.b64encode(b"k:s").decode()
    assert {name: request.json[name] for name in ("message_type", "channel", "to", "from", "text")} == {
        "message_type": "text",
        "channel": "sms",
        "to": PHONE,
        "from": "ACME",
        "text": "Hello",
    }
    assert isinstance(request.json["ttl"], int)


@pytest.mark.parametrize(
    ("status", "response"),
    [
        (401, ResponseKind.THROTTLED),
        (402, ResponseKind.THROTTLED),
        (422, ResponseKind.REJECTED),
        (429, ResponseKind.THROTTLED),
        (500, ResponseKind.IN_DOUBT),
    ],
)
def test_vonage_refuses(status: int, response: ResponseKind) -> None:
    reply = json_reply({"type": "https://example.com", "title": "Low balance", "detail": "no", "instance": "x"}, status)
    with against("vonage", lambda request: reply, "/v1/messages") as (_, made):
        assert one(made) == Outcome(response, error="Lowbalance")


def recipients(request: Request, codes: dict[str, int]) -> Reply:
    """Africa's Talking's response."""
    made = [
        {
            "statusCode": codes.get(number, 101),
            "number": number,
            "status": "x",
            "cost": "KES 0.8",
            "messageId": f"ATXid_{number}",
        }
        for number in request.form["to"].split(",")
    ]
    return json_reply({"SMSMessageData": {"Message": "Sent to 2/2 Total Cost: KES 1.6000", "Recipients": made}}, 201)


def test_africas_talking_takes_many_at_once() -> None:
    codes = {f"+{OTHER}": 403}
    with against("africastalking", lambda request: recipients(request, codes), "/version1/messaging") as (peer, made):
        outcomes = made.submit([message_group("Hello", [PHONE, OTHER])])
    assert outcomes == [
        Outcome(ResponseKind.ACCEPTED, f"ATXid_+{PHONE}"),
        Outcome(ResponseKind.REJECTED, error="invalid_recipient=403"),
    ]
    (request,) = peer.requests
    assert request.headers["apikey"] == "k"
    assert request.form == {
        "username": "u",
        "to": f"+{PHONE},+{OTHER}",
        "from": "ACME",
        "message": "Hello",
        "enqueue": "1",
    }


def test_the_generic_one_sends_lists() -> None:
    def respond(request: Request) -> Reply:
        made = [
            {"to": each["to"], "id": each["reference"][-4:], "status": "queued"} for each in request.json["messages"]
        ]
        return json_reply({"messages": made})

    with against("generic", respond, "/v1/messages") as (peer, made):
        group = message_group("Hello", [PHONE, OTHER])
        assert made.submit([group]) == [Outcome(ResponseKind.ACCEPTED, str(identity)[-4:]) for identity in group.ids]
    (request,) = peer.requests
    assert request.headers["authorization"] == "Bearer t"
    assert request.json["callback"] == "https://sms.example.com/carriers/web/receipts"
    assert [each["from"] for each in request.json["messages"]] == ["ACME", "ACME"]
