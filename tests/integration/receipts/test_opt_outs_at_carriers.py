"""A carrier says that the person has opted out: no carrier writes to the phone again, whatever it was said by."""

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import pytest
from sqlalchemy import Engine, text

from bulksms.local.postgres import Postgres
from shared.audit.check import audit
from shared.inbound import Inbound, store
from shared.outbox import listen
from tests.harness.database import disposable_database
from tests.harness.deliveries import settled_events
from tests.harness.http_carrier import HttpPeer, Reply, Request, http_peer, json_reply
from tests.harness.live_workers import report_carriers
from tests.harness.service import Service
from tests.harness.what_we_read import table
from tests.integration.receipts.test_carrier_callbacks import SECRET, at, call, status, twilio, vonage

FILE = """
[carrier.twilio]
kind = "http"
preset = "twilio"
public_url = "https://sms.example.com"
request.url = "{url}/twilio"
values = {{ account_sid = "AC1", auth_token = "t" }}
callback.secret = "{secret}"

[carrier.vonage]
kind = "http"
preset = "vonage"
request.url = "{url}/vonage"
values = {{ api_key = "k", api_secret = "s" }}
callback.secret = "{secret}"

[carrier.at]
kind = "http"
preset = "africastalking"
request.url = "{url}/at"
values = {{ username = "u", api_key = "k" }}
callback.secret = "{secret}"

[carrier.spare]
kind = "simulator"

[[routes]]
prefixes = ["25471"]
carriers = ["twilio", "spare"]
[[routes]]
prefixes = ["25472"]
carriers = ["vonage", "spare"]
[[routes]]
carriers = ["at", "spare"]
"""
PREFIXES = {"twilio": "25471", "vonage": "25472", "africastalking": "25473"}
ELSEWHERE = "254799999999"
OPTED_OUT = [row for row in table("Answers that say that a person has opted out") if row["Opted out"] == "yes"]
numbers = count(1)
codes: dict[str, str] = {}
"""The code that carriers answer to a submit, by phone."""
submits = Counter[str]()
"""How many carriers have had, by phone."""


def answer(request: Request) -> Reply:
    """As the carrier of the path answers: it takes the message, or refuses it with the phone's code."""
    fields = request.json if request.path == "/vonage" else request.form
    phone = fields["To" if request.path == "/twilio" else "to"].lstrip("+")
    code, identity = codes.get(phone), f"{submits[phone]}-{phone}"
    submits[phone] += 1
    if request.path == "/vonage":
        return json_reply({"message_uuid": identity}, 202)
    if request.path == "/twilio":
        refused = json_reply({"code": int(code or 0), "message": "no", "status": 400}, 400)
        return refused if code else json_reply({"sid": identity, "status": "queued"}, 201)
    entry = {"statusCode": int(code or 101), "number": f"+{phone}", "status": "x", "messageId": identity}
    return json_reply({"SMSMessageData": {"Message": "Sent", "Recipients": [entry]}}, 201)


CALLS: dict[str, Callable[[str, str], dict[str, Any]]] = {
    "twilio": lambda phone, code: twilio({"MessageSid": f"0-{phone}", "MessageStatus": "failed", "ErrorCode": code}),
    "vonage": lambda phone, code: vonage(
        {"message_uuid": f"0-{phone}", "status": "rejected", "to": phone, "error": {"title": int(code)}}
    ),
    "africastalking": lambda phone, code: at(
        {"id": f"0-{phone}", "status": "Rejected", "phoneNumber": f"+{phone}", "failureReason": code}
    ),
}


@pytest.fixture(scope="module", name="engine")
def _engine(postgres_server: Postgres) -> Iterator[Engine]:
    with disposable_database(postgres_server) as engine:
        yield engine


@pytest.fixture(scope="module")
def peer() -> Iterator[HttpPeer]:
    """The carriers."""
    with http_peer(answer) as made:
        yield made


@pytest.fixture(scope="module")
def service(engine: Engine, peer: HttpPeer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """An account that listens to events, and has an opt-out before its first send."""
    file = tmp_path_factory.mktemp("carriers") / "carriers.toml"
    file.write_text(FILE.format(url=peer.url(""), secret=SECRET))
    made = Service(engine, carriers_file=str(file))
    report_carriers(made.worker)
    listen(engine, made.account_id)
    made.post("/suppressions", phones=[ELSEWHERE], reason="asked")
    yield made
    for carrier in made.worker.carriers.values():
        carrier.close()


def new_phone(carrier: str) -> str:
    return f"{PREFIXES[carrier]}{next(numbers):07}"


def entries(service: Service, phone: str) -> list[tuple[str, str | None, str | None]]:
    """The reason and the scope of each of the phone's opt-outs."""
    found = service.get(f"/suppressions?phone={phone}").json["data"]
    return [(each["reason"], each["category"], each["sender_id"]) for each in found]


def reported(service: Service, phone: str) -> list[dict[str, Any]]:
    events = settled_events(service, "?types=suppression.created&limit=1000")
    return [each["data"] for each in events if each["data"]["phone"] == phone]


def told(service: Service, row: dict[str, str]) -> tuple[str, dict[str, Any]]:
    """Send to a new phone, and let the carrier answer as in the row. Returns the phone and the message."""
    phone = new_phone(row["Carrier"])
    if row["Answer"] == "submit":
        codes[phone] = row["Code"]
    message = service.send(phone).json["message_id"]
    if row["Answer"] == "receipt":
        assert call(service, CALLS[row["Carrier"]](phone, row["Code"])).status_code == 200
        status(service, message)
    found: dict[str, Any] = service.get(f"/messages/{message}").json
    return phone, found


@pytest.mark.parametrize("row", table("Answers that say that a person has opted out"))
def test_what_carriers_say(service: Service, row: dict[str, str]) -> None:
    phone, message = told(service, row)
    assert (message["error"]["code"], message["error"]["carrier_code"]) == (row["Error of the message"], row["Code"])
    is_opted_out = row["Opted out"] == "yes"
    assert entries(service, phone) == ([("carrier", None, None)] if is_opted_out else [])
    expected = {"phone": phone, "added": 1, "category": None, "sender_id": None, "reason": "carrier"}
    assert reported(service, phone) == ([expected] if is_opted_out else [])
    refused = "rejected" if is_opted_out else "failed"
    assert message["status"] == (refused if row["Answer"] == "submit" else "undelivered")
    assert message["cost"] == (0 if row["Answer"] == "submit" else 1)
    assert not list(audit(service.engine, full=True))


@pytest.mark.parametrize("row", OPTED_OUT)
def test_no_carrier_writes_to_the_person_again(service: Service, peer: HttpPeer, row: dict[str, str]) -> None:
    phone, message = told(service, row)
    before, balance = len(peer.requests), service.get("/balance").json["balance"]
    service.sweep()
    refused = service.send(phone)
    assert (refused.status_code, refused.json["code"]) == (403, "recipient_suppressed")
    assert (len(peer.requests), service.get("/balance").json["balance"]) == (before, balance)
    with service.engine.connect() as connection:
        carriers = connection.execute(text("SELECT carrier FROM message WHERE phone = :phone"), {"phone": int(phone)})
        assert carriers.scalars().all() == [{"africastalking": "at"}.get(row["Carrier"], row["Carrier"])]
    assert message["error"]["permanent"]


def test_start_or_a_request_takes_it_back_and_a_repeated_receipt_does_not_bring_it_again(service: Service) -> None:
    row = next(each for each in OPTED_OUT if each["Answer"] == "receipt")
    phone, _ = told(service, row)
    service.transact(store, "twilio", [Inbound(phone, "ACME", "START")])
    assert entries(service, phone) == []
    assert call(service, CALLS[row["Carrier"]](phone, row["Code"])).status_code == 200
    status(service, "00000000-0000-0000-0000-000000000000")
    assert entries(service, phone) == []
    assert service.send(phone).status_code == 200
    other, _ = told(service, row)
    assert service.delete(f"/suppressions/{other}").status_code == 200
    assert service.send(other).status_code == 200


def test_an_opt_out_of_another_reason_or_scope_stays(service: Service) -> None:
    phone = new_phone("twilio")
    codes[phone] = "21610"
    service.post("/suppressions", phones=[phone], reason="asked", category="marketing")
    service.send(phone)
    assert sorted(map(str, entries(service, phone))) == sorted(
        map(str, [("asked", "marketing", None), ("carrier", None, None)])
    )


def test_a_long_list_is_recorded_window_by_window(service: Service) -> None:
    """Twice the window of the carrier: the first windows are recorded before the cycle ends, the last with its end."""
    phones = [new_phone("twilio") for _ in range(100)]
    codes.update(dict.fromkeys(phones[::3], "21610"))
    before = service.get("/balance").json["balance"]
    send = service.bulk(phones).json["send_id"]
    service.sweep()
    counts = service.counts(send)
    assert (counts["sent"], counts["rejected"]) == (66, 34)
    assert [phone for phone in phones if entries(service, phone)] == phones[::3]
    assert before - service.get("/balance").json["balance"] == 66
    assert not list(audit(service.engine, full=True))
