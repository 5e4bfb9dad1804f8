"""Callbacks of carriers: which are believed, what is recorded before the 200, and what changes nothing."""

import base64
import hashlib
import hmac
import json
import time
from typing import Any
from urllib.parse import urlencode

import jwt
import pytest
from sqlalchemy import Engine, text
from werkzeug.test import TestResponse

from tests.harness.service import Service
from worker.receipts.match import match_unmatched

SECRET = "a-long-secret-of-a-carrier-0123456789"
FILE = f"""
[carrier.twilio]
kind = "http"
preset = "twilio"
public_url = "https://sms.example.com"
values = {{ account_sid = "AC1", auth_token = "{SECRET}" }}
callback.secret = "{SECRET}"

[carrier.vonage]
kind = "http"
preset = "vonage"
values = {{ api_key = "k", api_secret = "s" }}
callback.secret = "{SECRET}"

[carrier.at]
kind = "http"
preset = "africastalking"
values = {{ username = "u", api_key = "k" }}
callback.secret = "{SECRET}"

[carrier.generic]
kind = "http"
preset = "generic"
values = {{ token = "t" }}
callback.secret = "{SECRET}"

[carrier.plain]
kind = "http"
request = {{ url = "https://a.example/?to={{phone}}", method = "GET" }}
response = {{ id = "id" }}
receipts = {{ id = "id", status = "s", statuses = {{ D = "delivered" }} }}
callback = {{ auth = "basic", user = "them", secret = "{SECRET}" }}

[carrier.mute]
kind = "http"
request = {{ url = "https://a.example/?to={{phone}}" }}
response = {{ id = "id" }}
"""

BACK = text("UPDATE send SET sent = 1, delivered = 0 WHERE id = (SELECT send_id FROM batch WHERE id = batch_of(:id))")
ONE_OWNER = text("UPDATE sender_id SET state = 'rejected' WHERE account_id <> :account")


@pytest.fixture(scope="module")
def service(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Service:
    """The API with carriers that call; its worker has the simulated one."""
    made = Service(engine)
    file = tmp_path_factory.mktemp("carriers") / "carriers.toml"
    file.write_text(FILE)
    made.call_from(file)
    return made


def sent(service: Service, carrier: str, reference: str) -> str:
    """A message that the carrier took under that id. Returns our id of it."""
    message: str = service.send().json["message_id"]
    service.execute(
        "UPDATE message SET status = 'sent', carrier = :carrier, reference = :reference WHERE id = :id",
        carrier=carrier,
        reference=reference,
        id=message,
    )
    service.execute("DELETE FROM simulated_receipt")
    service.execute(BACK, id=message)
    return message


def status(service: Service, message: str) -> str:
    match_unmatched(service.engine, newest=60)
    return str(service.get(f"/messages/{message}").json["status"])


def twilio(form: dict[str, str], what: str = "receipts", secret: str = SECRET) -> dict[str, Any]:
    address = f"https://sms.example.com/carriers/twilio/{what}"
    signed = address + "".join(name + form[name] for name in sorted(form))
    signature = base64.b64encode(hmac.digest(secret.encode(), signed.encode(), hashlib.sha1)).decode()
    return {
        "path": f"/carriers/twilio/{what}",
        "data": urlencode(form),
        "headers": {"X-Twilio-Signature": signature, "Content-Type": "application/x-www-form-urlencoded"},
    }


def vonage(fields: dict[str, Any], what: str = "receipts", secret: str = SECRET, **claims: Any) -> dict[str, Any]:
    body = json.dumps(fields).encode()
    held = {"iat": int(time.time()), "payload_hash": hashlib.sha256(body).hexdigest(), **claims}
    token = jwt.encode(held, secret, "HS256")
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    return {"path": f"/carriers/vonage/{what}", "data": body, "headers": headers}


def at(form: dict[str, str], what: str = "receipts", key: str = SECRET) -> dict[str, Any]:
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    return {"path": f"/carriers/at/{what}?key={key}", "data": urlencode(form), "headers": headers}


def generic(fields: dict[str, Any], what: str = "receipts", secret: str = SECRET) -> dict[str, Any]:
    body = json.dumps(fields).encode()
    headers = {"X-Signature": "sha256=" + hmac.digest(secret.encode(), body, hashlib.sha256).hex()}
    return {
        "path": f"/carriers/generic/{what}",
        "data": body,
        "headers": headers | {"Content-Type": "application/json"},
    }


def plain(query: dict[str, str], secret: str = SECRET) -> dict[str, Any]:
    credentials = base64.b64encode(f"them:{secret}".encode()).decode()
    return {
        "path": "/carriers/plain/receipts",
        "query_string": query,
        "headers": {"Authorization": f"Basic {credentials}"},
    }


def call(service: Service, body: dict[str, Any], **more: Any) -> TestResponse:
    method = "POST" if "data" in body else "GET"
    return service.client.open(**{"method": method, **body, **more})


RECEIPTS = {
    "twilio": lambda id, word="delivered": twilio({"MessageSid": id, "MessageStatus": word, "To": "+254711000000"}),
    "vonage": lambda id, word="delivered": vonage({"message_uuid": id, "status": word, "to": "254711000000"}),
    "at": lambda id, word="Success": at({"id": id, "status": word, "phoneNumber": "+254711000000"}),
    "generic": lambda id, word="delivered": generic({"receipts": [{"id": id, "status": word, "to": "254711000000"}]}),
    "plain": lambda id, word="D": plain({"id": id, "s": word}),
}


@pytest.mark.parametrize("carrier", RECEIPTS)
def test_a_receipt_is_recorded_before_the_200_and_repeated_does_nothing(service: Service, carrier: str) -> None:
    message = sent(service, carrier, f"id-{carrier}")
    for _ in range(3):
        response = call(service, RECEIPTS[carrier](f"id-{carrier}"))
        assert (response.status_code, response.data) == (200, b"")
        kept = service.scalar("SELECT count(*) FROM receipt WHERE carrier = :it", it=carrier)
        assert kept >= 1
        assert status(service, message) == "delivered"


@pytest.mark.parametrize(
    ("carrier", "word", "error", "code"),
    [
        ("twilio", "undelivered", "30003", "absent_subscriber"),
        ("vonage", "rejected", "rejected", "rejected_by_carrier"),
        ("at", "AbsentSubscriber", "AbsentSubscriber", "absent_subscriber"),
    ],
)
def test_a_failed_delivery_is_recorded_with_its_reason(
    service: Service, carrier: str, word: str, error: str, code: str
) -> None:
    message = sent(service, carrier, f"bad-{carrier}")
    report = RECEIPTS[carrier](f"bad-{carrier}", word)
    if carrier == "twilio":
        report = twilio({"MessageSid": "bad-twilio", "MessageStatus": word, "ErrorCode": "30003"})
    assert call(service, report).status_code == 200
    assert status(service, message) == "undelivered"
    report = service.get(f"/messages/{message}").json["error"]
    assert (report["code"], report["carrier"], report["carrier_code"]) == (code, carrier, error)


FORM = {"MessageSid": "forged", "MessageStatus": "delivered"}
TOLD = {"message_uuid": "forged", "status": "delivered"}
FORGED = {
    "twilio": twilio(FORM, secret="x" * 32),
    "twilio-other-path": {
        **twilio(FORM, "inbound"),
        "path": "/carriers/twilio/receipts",
    },
    "twilio-unsigned": {**twilio(FORM), "headers": {}},
    "vonage": vonage(TOLD, secret="x" * 32),
    "vonage-other-body": {**vonage({"a": 1}), "data": b'{"message_uuid": "forged", "status": "delivered"}'},
    "vonage-no-hash": vonage(TOLD, payload_hash=None),
    "vonage-none": {
        **vonage(TOLD),
        "headers": {
            "Authorization": "Bearer " + jwt.encode({"iat": 1}, None, "none"),
            "Content-Type": "application/json",
        },
    },
    "at": at({"id": "forged", "status": "Success"}, key="x"),
    "at-no-key": {**at({"id": "forged", "status": "Success"}), "path": "/carriers/at/receipts"},
    "generic": generic({"receipts": [{"id": "forged", "status": "delivered"}]}, secret="x"),
    "plain": plain({"id": "forged", "s": "D"}, secret="x"),
    "plain-none": {**plain({"id": "forged", "s": "D"}), "headers": {}},
}


@pytest.mark.parametrize("name", FORGED)
def test_b60_a_forged_call_changes_nothing(service: Service, name: str) -> None:
    before = counted(service)
    response = call(service, FORGED[name])
    assert (response.status_code, response.json["code"]) == (401, "invalid_credentials")
    assert counted(service) == before


def counted(service: Service) -> tuple[int, int]:
    receipts = service.scalar("SELECT count(*) FROM receipt")
    return receipts, service.scalar("SELECT count(*) FROM inbound")


@pytest.mark.parametrize("path", ["/carriers/mute/receipts", "/carriers/nobody/receipts", "/carriers/mute/inbound"])
def test_a_carrier_without_callbacks_has_no_callback_url(service: Service, path: str) -> None:
    assert service.client.post(path, json={"id": "x"}).status_code == 404


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (generic({}), 400),
        (generic({"receipts": {}}), 400),
        (generic({"receipts": [None, 1, "x", [], {"id": None}, {"id": "a", "status": "who knows"}]}), 200),
        (generic({"receipts": [{"id": "x" * 300, "status": "delivered"}, {"id": "\0", "status": "delivered"}]}), 200),
        ({**generic({}), "data": b"", "headers": {"X-Signature": ""}}, 401),
        (twilio({}), 200),
        (twilio({"MessageSid": "x", "MessageStatus": "y" * 70_000}), 200),
        (vonage({"message_uuid": ["x"], "status": {"a": 1}}), 200),
        (vonage({"message_uuid": "late", "status": "delivered", "timestamp": "9999-99-99"}), 200),
        (vonage({"message_uuid": "late", "status": "delivered", "timestamp": "0001-01-01T00:00:00+23:59"}), 200),
        (vonage({"message_uuid": "late", "status": "delivered", "to": "x" * 70_000}), 200),
        (vonage({}, "inbound"), 200),
        (plain({}), 200),
    ],
)
def test_b60_a_meaningless_call_does_no_harm(service: Service, body: dict[str, Any], code: int) -> None:
    assert call(service, body).status_code == code


def test_unreadable_receipts_are_kept_as_they_came(service: Service) -> None:
    service.execute("DELETE FROM unreadable_receipt")
    entries = [{"id": "a", "status": "who knows"}, {"status": "delivered"}, {"id": "b", "status": "delivered"}]
    assert call(service, generic({"receipts": entries})).status_code == 200
    kept = service.execute("SELECT reason, octets FROM unreadable_receipt ORDER BY id")
    assert [(row.reason, json.loads(bytes(row.octets))) for row in kept] == [
        ("unknown_status", entries[0]),
        ("no_id_or_state", entries[1]),
    ]


def test_a_callback_that_is_no_message_is_kept_as_it_came(service: Service) -> None:
    service.execute("DELETE FROM unreadable_receipt")
    entries = [{"from": "254711000000", "to": "ACME"}, {"from": "254711000000", "to": "ACME", "text": "Hi"}]
    assert call(service, generic({"messages": entries}, "inbound")).status_code == 200
    kept = service.execute("SELECT reason, octets FROM unreadable_receipt")
    assert [(row.reason, json.loads(bytes(row.octets))) for row in kept] == [("not_a_message", entries[0])]


def test_the_notice_of_africas_talking_that_a_phone_has_opted_out_counts_as_stop(service: Service) -> None:
    """Its docs: "sent whenever a user opts out of receiving messages from your alphanumeric sender ID"."""
    notice = at({"senderId": "ACME", "phoneNumber": "+254711001999"}, "inbound")
    service.execute(ONE_OWNER, account=service.account_id)
    assert call(service, notice).status_code == 200
    assert "254711001999" in {each["phone"] for each in service.get("/suppressions").json["data"]}


def test_a_call_that_is_too_large(service: Service) -> None:
    response = call(service, generic({"receipts": [{"id": "x" * 1_100_000}]}))
    assert response.status_code == 413


@pytest.mark.parametrize("carrier", ["twilio", "vonage", "at", "generic"])
def test_an_inbound_message_is_stored_and_a_stop_opts_out(service: Service, carrier: str) -> None:
    phone = f"25471100{1000 + list(RECEIPTS).index(carrier)}"
    body = {
        "twilio": twilio({"MessageSid": "SM1", "From": f"+{phone}", "To": "ACME", "Body": "STOP"}, "inbound"),
        "vonage": vonage(
            {"message_uuid": "u1", "from": phone, "to": "acme", "text": "STOP", "channel": "sms"}, "inbound"
        ),
        "at": at({"id": "a1", "from": f"+{phone}", "to": "ACME", "text": "STOP", "linkId": "x"}, "inbound"),
        "generic": generic({"messages": [{"id": "g1", "from": phone, "to": "ACME", "text": "STOP"}]}, "inbound"),
    }[carrier]
    service.execute(ONE_OWNER, account=service.account_id)
    for _ in range(2):
        assert call(service, body).status_code == 200
    messages = service.get(f"/inbound?phone={phone}").json["data"]
    assert [(each["message"], each["carrier"], each["keyword"]) for each in messages] == [("STOP", carrier, "stop")]
    assert phone in {each["phone"] for each in service.get("/suppressions").json["data"]}
