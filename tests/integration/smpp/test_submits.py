"""Submits over SMPP: accepted, paid for and delivered as over HTTP."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from threading import Event
from typing import Any

import psycopg
import pytest
from sqlalchemy.exc import OperationalError

from api.smpp import backend, session, submits, throttle
from api.smpp.backend import Backend
from api.smpp.binds import Bound
from shared.accounts.limits import set_limits
from shared.accounts.smpp_credentials import find_own, rotate_password
from shared.carriers.smpp.constants import UDH_INDICATOR, Command, Status, Tag
from shared.carriers.smpp.pdu import c_string
from shared.sms import gsm7
from tests.harness.house import wait_until
from tests.harness.service import SECRET_KEY
from tests.harness.smpp import Closed, SmppHouse, data_sm_body, submit_body
from worker.carriers.base import MessageGroup, Outcome, Pace
from worker.jobs.retention import forget

LATER = f"{datetime.now(UTC) + timedelta(days=1):%y%m%d%H%M%S}000+"
PART = bytes((5, 0, 3, 7, 2, 1))
"""The header of the first of two parts."""


def shown(smpp: SmppHouse, message_id: str) -> dict[str, Any]:
    """A message as the HTTP API shows it."""
    answer: dict[str, Any] = smpp.service.get(f"/messages/{message_id}").json
    return answer


def test_it_works(smpp: SmppHouse) -> None:
    service, client = smpp.service, smpp.bound()
    answer = client.submit(text=b"Your table is ready.")
    assert (answer.command, answer.status) == (Command.SUBMIT_SM_RESP, Status.ESME_ROK)
    message = shown(smpp, answer.message_id)
    assert (message["phone"], message["text"], message["cost"]) == ("254711000000", "Your table is ready.", 1)
    assert service.get("/balance").json["balance"] == 999
    service.deliver_receipts()
    delivery = client.delivery()
    assert delivery.receipt["id"] == answer.message_id
    assert (delivery.receipt["stat"], delivery.receipt["err"]) == ("DELIVRD", "000")
    assert (delivery.message.source, delivery.message.destination) == ("254711000000", "ACME")
    assert client.ask(Command.UNBIND).status == Status.ESME_ROK


def test_a_data_sm_is_a_submit(smpp: SmppHouse) -> None:
    answer = smpp.bound().ask(Command.DATA_SM, data_sm_body("254711000000", b"Hi"))
    assert shown(smpp, answer.message_id)["text"] == "Hi"


def test_submits_that_arrive_together_are_all_answered(smpp: SmppHouse) -> None:
    credential = smpp.credential(window_size=50)
    first, second = smpp.bound(credential), smpp.bound(credential)
    for client in (first, second):
        client.socket.sendall(b"")
        for _ in range(20):
            client.send(Command.SUBMIT_SM, submit_body())
    ids = {client.read(Command.SUBMIT_SM_RESP).message_id for client in (first, second) for _ in range(20)}
    assert len(ids) == 40
    assert smpp.service.get("/balance").json["balance"] == 960


@pytest.mark.parametrize(
    ("alphabet", "coding", "octets", "read"),
    [
        ("gsm", 0, b"\x00 \x1b\x65", "@ €"),
        ("latin1", 0, "Grüße".encode("latin-1"), "Grüße"),
        ("utf8", 0, "Grüße €".encode(), "Grüße €"),
        ("gsm", 1, b"Hi", "Hi"),
        ("gsm", 3, "é".encode("latin-1"), "é"),
        ("gsm", 8, "Привет 😀".encode("utf-16-be"), "Привет 😀"),
        ("latin1", 0, b"Hi {{name}} and {{{{x}}}}", "Hi {{name}} and {{{{x}}}}"),
    ],
)
def test_the_text_is_read(smpp: SmppHouse, alphabet: str, coding: int, octets: bytes, read: str) -> None:
    answer = smpp.bound(smpp.credential(alphabet=alphabet)).submit(text=octets, data_coding=coding)
    assert shown(smpp, answer.message_id)["text"] == read


def test_a_long_text_is_split_here(smpp: SmppHouse) -> None:
    client, long = smpp.bound(), b"x" * 400
    answer = client.submit(text=b"", tlvs={Tag.MESSAGE_PAYLOAD: long})
    message = shown(smpp, answer.message_id)
    assert (message["text"], message["segments"], message["cost"]) == (long.decode(), 3, 3)


@pytest.mark.parametrize(
    ("more", "octets", "read"),
    [
        ({"esm_class": UDH_INDICATOR}, PART + b"\x1b\x65uro" + b"x" * 148, "€uro" + "x" * 148),
        ({"esm_class": UDH_INDICATOR, "data_coding": 8}, PART + b"\x04\x1f\xd8\x3d", "П\ufffd"),
        (
            {"tlvs": {Tag.SAR_MSG_REF_NUM: b"\0\7", Tag.SAR_TOTAL_SEGMENTS: b"\2", Tag.SAR_SEGMENT_SEQNUM: b"\1"}},
            b"Hi",
            "Hi",
        ),
        ({"data_coding": 4}, b"\0\1\2\xff", ""),
    ],
    ids=["header", "half a character", "sar", "binary"],
)
def test_a_part_is_one_segment_and_kept_as_it_came(
    smpp: SmppHouse, more: dict[str, Any], octets: bytes, read: str
) -> None:
    answer = smpp.bound().submit(text=octets, **more)
    message = shown(smpp, answer.message_id)
    assert (message["text"], message["segments"], message["cost"], message["status"]) == (read, 1, 1, "sent")
    stored = smpp.service.scalar("SELECT smpp -> 'part' FROM send ORDER BY id DESC LIMIT 1")
    assert bytes.fromhex(stored["octets"]) == octets
    assert (stored["coding"], stored["esm"]) == (more.get("data_coding", 0), more.get("esm_class", 0))
    assert len(stored["tlvs"]) == len(more.get("tlvs", {}))


def test_parameters_for_regulators_reach_the_carrier_also_when_it_is_tried_again(
    smpp: SmppHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    service, simulator, given = smpp.service, smpp.service.worker.simulator, list[Any]()
    submit = simulator.submit

    def noted(message_groups: list[MessageGroup], limit: Pace | None = None) -> list[Outcome]:
        given.extend(group.tlvs for group in message_groups)
        return submit(message_groups, limit)

    monkeypatch.setattr(simulator, "submit", noted)
    tlvs = {0x1400: b"entity", 0x1402: b"", 0x1600: b"key", 0x4000: b"reserved"}
    smpp.bound().submit("99910000000", tlvs=tlvs)
    service.execute("UPDATE batch SET due_at = now() WHERE state = 'waiting' AND attempts > 0")
    service.sweep()
    assert given[:2] == [{0x1400: b"entity", 0x1402: b""}] * 2


def test_a_part_in_the_alphabet_of_the_credential_becomes_gsm7(smpp: SmppHouse) -> None:
    client = smpp.bound(smpp.credential(alphabet="utf8"))
    client.submit(text=PART + "ü €".encode(), esm_class=UDH_INDICATOR)
    stored = smpp.service.scalar("SELECT smpp -> 'part' FROM send ORDER BY id DESC LIMIT 1")
    assert bytes.fromhex(stored["octets"]) == PART + gsm7.encode("ü €")


def test_a_limit_of_a_phone_cuts_no_long_message(smpp: SmppHouse) -> None:
    smpp.service.transact(set_limits, smpp.service.account_id, recipient_transactional=2)
    smpp.service.reload_limits()
    client, status = smpp.bound(), {}
    for reference in (7, 8, 9):
        for number in (1, 2, 3):
            text = bytes((5, 0, 3, reference, 3, number)) + b"Hi"
            status[reference, number] = client.submit(text=text, esm_class=UDH_INDICATOR).status
    assert [key for key, each in status.items() if each == Status.ESME_ROK] == [
        (reference, number) for reference in (7, 8) for number in (1, 2, 3)
    ]


def test_schedule_validity_and_priority(smpp: SmppHouse) -> None:
    answer = smpp.bound().submit(schedule=LATER, validity="000002000000000R", priority=1)
    message = shown(smpp, answer.message_id)
    assert (message["status"], message["category"]) == ("scheduled", "marketing")
    assert smpp.bound().submit(priority=3).status == Status.ESME_ROK


def test_a_number_that_is_called_national_is_read_with_its_country_code(smpp: SmppHouse) -> None:
    """As Kannel 1.4.5 sends 254711000000 without `dest-addr-ton`."""
    answer = smpp.bound().submit(phone="254711000000", destination_ton=2)
    assert shown(smpp, answer.message_id)["phone"] == "254711000000"


def test_the_default_sender(smpp: SmppHouse) -> None:
    client = smpp.bound(smpp.credential(default_sender="ACME"))
    assert shown(smpp, client.submit(sender="").message_id)["sender_id"] == "ACME"


@pytest.mark.parametrize(
    ("more", "status", "explained"),
    [
        ({"sender": "NOBODY"}, Status.ESME_RINVSRCADR, "has no sender ID"),
        ({"sender": ""}, Status.ESME_RINVSRCADR, "sender ID"),
        ({"phone": "0711"}, Status.ESME_RINVDSTADR, ""),
        ({"phone": "711000000", "destination_ton": 3}, Status.ESME_RINVDSTTON, "international"),
        ({"phone": "254711000099"}, Status.ESME_RINVDSTADR, "opted out"),
        ({"text": b""}, Status.ESME_RINVMSGLEN, ""),
        ({"text": b"\x80\x81"}, Status.ESME_RSUBMITFAIL, "data_coding"),
        ({"data_coding": 9}, Status.ESME_RSUBMITFAIL, "not supported"),
        ({"text": PART + b"x" * 160, "esm_class": UDH_INDICATOR}, Status.ESME_RSUBMITFAIL, "140 octets"),
        ({"text": b"x" * 141, "data_coding": 4}, Status.ESME_RSUBMITFAIL, "140 octets"),
        ({"text": b"\xff", "esm_class": UDH_INDICATOR}, Status.ESME_RSUBMITFAIL, "header"),
        ({"tlvs": {0x020C: b"12", 0x020E: b"2"}}, Status.ESME_RSUBMITFAIL, "all three sar_"),
        ({"tlvs": {0x020C: b"x" * 9_000, 0x020E: b"2", 0x020F: b"1"}}, Status.ESME_RSUBMITFAIL, "2, 1 and 1 octets"),
        ({"text": b"", "tlvs": {0x0424: b"x" * 6_401}}, Status.ESME_RSUBMITFAIL, "1,600 characters"),
        ({"text": b"", "tlvs": {0x0424: b"x" * 60_000}}, Status.ESME_RINVMSGLEN, ""),
        ({"schedule": "991301000000000+"}, Status.ESME_RINVSCHED, ""),
        ({"schedule": "200101000000000+"}, Status.ESME_RINVSCHED, "60 seconds ago"),
        ({"validity": "soon"}, Status.ESME_RINVEXPIRY, ""),
        ({"validity": "200101000000000+"}, Status.ESME_RINVEXPIRY, "future"),
        ({"priority": 9}, Status.ESME_RINVPRTFLG, "0 to 3"),
        ({"tlvs": {0x1600: b"not visible"}}, Status.ESME_RINVOPTPARAMVAL, ""),
        ({"tlvs": {0x1400: b"x" * 256}}, Status.ESME_RINVPARLEN, "255 octets"),
        ({"tlvs": dict.fromkeys(range(0x1400, 0x1411), b"")}, Status.ESME_RINVPARLEN, "16 vendor"),
    ],
)
def test_what_is_refused(smpp: SmppHouse, more: dict[str, Any], status: Status, explained: str) -> None:
    service = smpp.service
    service.post("/suppressions", phones=["254711000099"])
    answer = smpp.bound().submit(**more)
    assert (Status(answer.status), explained in answer.explanation) == (status, True), answer.explanation
    assert service.get("/balance").json == {**service.get("/balance").json, "balance": 1000, "reserved": 0}


def test_prices_count_and_without_one_nothing_is_sent(smpp: SmppHouse) -> None:
    smpp.service.set_prices(("", "254", 3), account=smpp.service.account_id)
    client = smpp.bound()
    assert shown(smpp, client.submit().message_id)["cost"] == 3
    assert client.submit(phone="4915112345678").status == Status.ESME_RINVDSTADR


def test_a_low_balance_is_explained_and_not_tried_again(smpp: SmppHouse) -> None:
    account = smpp.service.new_account("poor", credits=1)
    client = smpp.bound(smpp.credential(account))
    assert client.submit().status == Status.ESME_ROK
    refused = client.submit()
    assert (refused.status, "credit" in refused.explanation) == (Status.ESME_RSUBMITFAIL, True)


def test_a_repeated_key_gets_the_same_id(smpp: SmppHouse) -> None:
    smpp.service.post("/suppressions", phones=["254711000009"])
    client, key = smpp.bound(), {0x1600: b"order-1"}
    first = client.submit(tlvs=key, validity="000001000000000R")
    assert client.submit(tlvs=key, validity="000001000000000R").message_id == first.message_id
    assert client.submit(tlvs=key, text=b"Other").status == Status.ESME_RSUBMITFAIL
    smpp.service.post("/suppressions", phones=["254711000000"])
    assert client.submit().status == Status.ESME_RINVDSTADR
    again = client.submit(tlvs=key, validity="000001000000000R")
    assert again.message_id == first.message_id, "also of one that would be refused now"
    assert smpp.service.get("/balance").json["balance"] == 999


def test_submits_above_the_rate_are_held(smpp: SmppHouse, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(throttle, "HOLD_SECONDS", 60.0)
    client = smpp.bound(smpp.credential(rate=3))
    sent = [client.send(Command.SUBMIT_SM, submit_body()) for _ in range(6)]
    assert [client.read(sequence=number).status for number in sent] == [Status.ESME_ROK] * 6


def test_a_held_submit_slows_nobody_else_and_ends_with_its_bind(
    smpp: SmppHouse, monkeypatch: pytest.MonkeyPatch, no_refill: None
) -> None:
    monkeypatch.setattr(throttle, "HOLD_SECONDS", 60.0)
    credential = smpp.credential(rate=1, window_size=2)
    client = smpp.bound(credential)
    assert client.submit().status == Status.ESME_ROK
    for _ in range(2):
        client.send(Command.SUBMIT_SM, submit_body())
    assert client.submit().status == Status.ESME_RTHROTTLED, "beyond the window"
    assert smpp.server._backend.open.held.get(smpp.service.account_id) == 2, "and it was not held"
    assert client.ask(Command.ENQUIRE_LINK).status == Status.ESME_ROK
    assert smpp.bound(smpp.credential()).submit().status == Status.ESME_ROK
    client.stop()
    monkeypatch.undo()
    assert smpp.bound(credential).submit().status == Status.ESME_ROK
    assert smpp.service.get("/balance").json["balance"] == 997


@pytest.fixture
def go_on(smpp: SmppHouse, monkeypatch: pytest.MonkeyPatch) -> Iterator[Event]:
    """Until this is set, submits wait that need a thread: those of the account do, as somebody has opted out."""
    event, answer = Event(), Backend.answer

    def wait(self: Backend, bound: Bound, command: int, body: bytes) -> bytes:
        assert command != Command.SUBMIT_SM or event.wait(60)
        return answer(self, bound, command, body)

    monkeypatch.setattr(Backend, "answer", wait)
    assert smpp.service.post("/suppressions", phones=["254711000009"]).status_code == 200
    yield event
    event.set()


def test_an_account_has_only_so_many_open_requests(
    smpp: SmppHouse, monkeypatch: pytest.MonkeyPatch, go_on: Event
) -> None:
    monkeypatch.setattr(session, "MAX_OPEN", 2)
    binds = [smpp.bound(), smpp.bound()]
    sent = [(bind, bind.send(Command.SUBMIT_SM, submit_body())) for bind in binds]
    wait_until(lambda: smpp.server._backend.open.held.get(smpp.service.account_id) == 2, 60, "the submits")
    assert binds[1].submit().status == Status.ESME_RTHROTTLED
    other = smpp.service.new_account("other")
    smpp.bound(smpp.credential(other)).send(Command.SUBMIT_SM, submit_body())
    wait_until(lambda: smpp.server._backend.open.held.get(other) == 1, 60, "the submit of another account")
    go_on.set()
    assert [bind.read(sequence=number).status for bind, number in sent] == [Status.ESME_ROK] * 2
    assert binds[1].submit().status == Status.ESME_ROK, "what was answered counts no more"


def test_open_submits_are_bounded_by_their_octets(
    smpp: SmppHouse, monkeypatch: pytest.MonkeyPatch, go_on: Event
) -> None:
    monkeypatch.setattr(session, "MAX_OPEN_OCTETS", 1)
    client = smpp.bound()
    sent = client.send(Command.SUBMIT_SM, submit_body())
    assert client.submit().status == Status.ESME_RTHROTTLED
    go_on.set()
    assert client.read(sequence=sent).status == Status.ESME_ROK
    assert client.submit().status == Status.ESME_ROK, "what was answered counts no more"


def test_what_waits_for_threads_holds_up_no_other_account_and_ends_with_its_bind(smpp: SmppHouse, go_on: Event) -> None:
    credential = smpp.credential(window_size=20)
    client, leaver = smpp.bound(credential), smpp.bound(credential)
    sent = [client.send(Command.SUBMIT_SM, submit_body()) for _ in range(20)]
    wait_until(lambda: smpp.server._backend.open.held.get(smpp.service.account_id) == 20, 60, "the submits")
    leaver.send(Command.SUBMIT_SM, submit_body())
    other = smpp.bound(smpp.credential(smpp.service.new_account("other")))
    query = c_string("01a221bc-a686-7327-9c89-513af9300001") + b"\5\0" + c_string("ACME")
    assert other.ask(Command.QUERY_SM, query).status == Status.ESME_RQUERYFAIL
    leaver.stop()
    wait_until(lambda: len(smpp.server._sessions) == 2, 60, "the end of a bind")
    go_on.set()
    assert [client.read(sequence=number).status for number in sent] == [Status.ESME_ROK] * 20
    assert smpp.service.get("/balance").json["balance"] == 980, "nothing is stored for a bind that has ended"


def test_what_is_open_when_the_server_unbinds_is_still_answered(smpp: SmppHouse, go_on: Event) -> None:
    made, engine = smpp.credential(), smpp.service.engine
    client = smpp.bound(made)
    sent = client.send(Command.SUBMIT_SM, submit_body())
    with engine.begin() as connection:
        rotate_password(connection, find_own(connection, made.system_id), SECRET_KEY)
    client.send(Command.UNBIND_RESP, sequence=client.read(Command.UNBIND).sequence)
    go_on.set()
    assert client.read(sequence=sent).status == Status.ESME_ROK
    with pytest.raises(Closed):
        client.read()


def test_what_would_be_held_for_too_long_is_throttled(
    smpp: SmppHouse, monkeypatch: pytest.MonkeyPatch, no_refill: None
) -> None:
    monkeypatch.setattr(throttle, "HOLD_SECONDS", 0.01)
    client = smpp.bound(smpp.credential(rate=2))
    statuses = [client.submit().status for _ in range(3)]
    assert statuses == [Status.ESME_ROK, Status.ESME_ROK, Status.ESME_RTHROTTLED]


def test_a_suspended_account_sends_nothing(smpp: SmppHouse) -> None:
    client, service = smpp.bound(), smpp.service
    service.execute("UPDATE account SET state = 'suspended' WHERE id = :id", id=service.account_id)
    service.reload_limits()
    assert client.submit().status == Status.ESME_RSUBMITFAIL
    assert smpp.client().bind(smpp.credential()).status == Status.ESME_RBINDFAIL


def test_what_is_forgotten_leaves_no_part(smpp: SmppHouse) -> None:
    client, engine = smpp.bound(), smpp.service.engine
    client.submit(text=b"\0\1\2", data_coding=4)
    smpp.service.deliver_receipts()
    smpp.service.sweep()
    forget(engine, 1, datetime.now(UTC) + timedelta(days=3))
    kept = "SELECT smpp, forgotten_at IS NOT NULL FROM send WHERE account_id = :account"
    assert smpp.service.row(kept, account=smpp.service.account_id) == (None, True)


@pytest.mark.parametrize("error", [OperationalError("SELECT", None, Exception()), ValueError("a bug")])
def test_what_is_our_own_fault_may_be_tried_again(
    smpp: SmppHouse, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def fail(*_: object) -> None:
        raise error

    client = smpp.bound()
    monkeypatch.setattr(submits, "accept", fail)
    assert client.submit().status == Status.ESME_RSYSERR
    monkeypatch.setattr(backend, "bind", fail)
    assert smpp.client().bind(smpp.credential()).status == Status.ESME_RBINDFAIL


def test_a_submit_whose_commit_may_have_taken_effect_ends_the_bind_without_an_answer(
    smpp: SmppHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lose(*_: object) -> None:
        raise OperationalError(None, None, psycopg.OperationalError("lost"), connection_invalidated=True)

    client = smpp.bound()
    monkeypatch.setattr(submits, "accept", lose)
    with pytest.raises(Closed):
        client.submit()


def test_a_new_text_replaces_a_part(smpp: SmppHouse) -> None:
    service = smpp.service
    message_id = smpp.bound().submit(text=b"\0\1", data_coding=4, schedule=LATER).message_id
    send_id = shown(smpp, message_id)["send_id"]
    assert service.patch(f"/sends/{send_id}", message="A text").status_code == 200
    kept = service.scalar("SELECT smpp FROM send WHERE id = :id", id=send_id)
    assert (kept, shown(smpp, message_id)["text"]) == ({"registered": 1}, "A text")
