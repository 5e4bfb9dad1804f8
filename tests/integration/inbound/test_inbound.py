"""Messages from phones: kept whole and once, for the account that has the number; STOP and START."""

import itertools
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest

from bulksms.smsc.server import Smsc, running
from bulksms.smsc.settings import SmscSettings
from shared.accounts.change_account import change_account
from shared.carriers.control import prepare
from shared.carriers.smpp.constants import Tag
from shared.carriers.smpp.pdu import Message
from shared.health.inbound import destinations_finding, keywords_finding
from shared.inbound import Inbound, end_parts, store
from shared.inbound.unassigned import assign_inbound, list_unassigned
from shared.senders.sender_ids import Decision, decide_sender, request_sender
from tests.harness.house import wait_until
from tests.harness.service import Service
from tests.harness.what_we_read import table
from tests.unit.carriers.smpp.making import KeptInbox, config
from worker.carriers.smpp import SmppCarrier
from worker.carriers.smpp.receipt import inbound

NUMBERS = itertools.count(254_204_000_001)
PHONE = "254711000000"
PHONES = itertools.count(254_711_500_001)


@pytest.fixture
def number(service: Service) -> str:
    """A number that nobody else has, the account's sender ID."""
    return service.approve(service.account_id, str(next(NUMBERS)))


@pytest.fixture
def short_code(service: Service) -> str:
    """Likewise, but in no country."""
    return service.approve(service.account_id, str(next(NUMBERS))[-5:])


def come(service: Service, *messages: Inbound, carrier: str = "main") -> None:
    service.transact(store, carrier, messages)


def shown(service: Service, query: str = "") -> Any:
    response = service.get(f"/inbound{query}")
    assert response.status_code == 200
    return response.json["data"]


def suppressed(service: Service, phone: str = PHONE) -> str | None:
    statement = "SELECT reason FROM suppression WHERE account_id = :account AND phone = :phone"
    reason: str | None = service.scalar(statement, account=service.account_id, phone=int(phone))
    return reason


def test_it_works(service: Service, number: str) -> None:
    come(service, Inbound("+" + PHONE, "+" + number, "Is it open?"))
    (shown_message,) = shown(service, f"?sender_id={number}")
    assert {key: shown_message[key] for key in ("phone", "sender_id", "message", "keyword", "segments", "carrier")} == {
        "phone": PHONE,
        "sender_id": number,
        "message": "Is it open?",
        "keyword": None,
        "segments": 1,
        "carrier": "main",
    }
    assert shown_message["received_at"].endswith("Z")


def test_a_stop_in_the_other_spelling_of_a_phone_opts_it_out_and_a_start_in(service: Service, number: str) -> None:
    """Mexican networks write +52 1 or +52: daddyz/phonelib #254."""
    come(service, Inbound("5215555010123", number, "STOP"))
    assert service.send("525555010123").json["code"] == "recipient_suppressed"
    come(service, Inbound("525555010123", number, "START"))
    assert suppressed(service, "5215555010123") is suppressed(service, "525555010123") is None


def test_a_possible_opt_out_keeps_marketing_away_until_somebody_decides(service: Service, number: str) -> None:
    come(service, Inbound(PHONE, number, "STOP who is this?"))
    assert [each["keyword"] for each in shown(service, f"?sender_id={number}&keyword=possible_stop")] == [
        "possible_stop"
    ]
    waiting = service.get("/suppressions?reason=possible_stop").json["data"]
    assert [(each["phone"], each["category"]) for each in waiting] == [(PHONE, "marketing")]
    assert service.send(PHONE, category="marketing").json["code"] == "recipient_suppressed"
    assert service.send(PHONE).status_code == 200
    assert service.delete(f"/suppressions/{PHONE}?category=marketing").json["removed"] == 1
    assert service.send(PHONE, category="marketing").status_code == 200


@pytest.mark.parametrize(("answer", "reason"), [("Stop!", "stop"), ("START", None)])
def test_a_certain_answer_decides_a_possible_opt_out(
    service: Service, number: str, answer: str, reason: str | None
) -> None:
    come(service, Inbound(PHONE, number, "I said STOP"))
    come(service, Inbound(PHONE, number, answer))
    assert service.get("/suppressions?reason=possible_stop").json["data"] == []
    assert suppressed(service) == reason


WITHOUT_OWN_NAMES = [row for row in table("Opt-outs") if "own n" not in row["Source"]]


@pytest.mark.parametrize("row", WITHOUT_OWN_NAMES[::3], ids=lambda row: row["Text"])
def test_a_text_has_the_effect_that_the_page_says(service: Service, number: str, row: dict[str, str]) -> None:
    phone = str(next(PHONES))
    come(service, Inbound(phone, number, row["Text"]))
    reason = {"opt-out": "stop", "possible": "possible_stop", "none": None}[row["Outcome"]]
    assert suppressed(service, phone) == reason


def test_the_list_is_newest_first_in_pages_and_filtered(service: Service, number: str) -> None:
    for count in range(5):
        come(service, Inbound(str(int(PHONE) + count), number, "STOP" if count == 2 else f"{count}"))
    assert [each["message"] for each in shown(service, f"?sender_id={number}")] == ["4", "3", "STOP", "1", "0"]
    first = service.get("/inbound?limit=2").json
    second = service.get(f"/inbound?limit=2&cursor={first['next_cursor']}").json
    assert [each["message"] for each in first["data"] + second["data"]] == ["4", "3", "STOP", "1"]
    assert [each["message"] for each in shown(service, f"?sender_id={number}&keyword=stop")] == ["STOP"]
    assert [each["message"] for each in shown(service, f"?sender_id={number}&phone={int(PHONE) + 3}")] == ["3"]
    assert shown(service, "?since=2100-01-01T00:00:00Z") == []
    assert len(shown(service, f"?sender_id={number}&until=2100-01-01T00:00:00Z")) == 5


def test_the_newest_message_of_each_phone(service: Service, number: str) -> None:
    for phone, message in (("254711000001", "one"), ("254711000002", "two"), ("254711000001", "three")):
        come(service, Inbound(f"+{phone}", f"+{number}", message))
    assert [each["message"] for each in service.get("/inbound?latest=true").json["data"]] == ["three", "two"]
    assert len(service.get("/inbound?latest=false").json["data"]) == 3


@pytest.mark.parametrize("query", ["?keyword=halt", "?phone=0711", "?cursor=x", "?since=yesterday", "?recipient=1"])
def test_an_invalid_filter_is_refused(service: Service, query: str) -> None:
    assert service.get(f"/inbound{query}").status_code == 400


def test_a_start_undoes_only_a_stop(service: Service, number: str) -> None:
    phone = "254711000124"
    values = {"account": service.account_id, "phone": int(phone)}
    service.execute(
        "INSERT INTO suppression (account_id, phone, reason) VALUES (:account, :phone, 'complaint')", **values
    )
    come(service, Inbound(phone, number, "STOP"))
    come(service, Inbound(phone, number, "START"))
    assert suppressed(service, phone) == "complaint"


@pytest.mark.parametrize(
    ("first", "added"),
    [("STOP", {"reason": "complaint"}), ("I said STOP", {"reason": "asked by phone", "category": "marketing"})],
)
def test_a_start_undoes_no_opt_out_that_was_added_on_top(
    service: Service, number: str, first: str, added: dict[str, str]
) -> None:
    phone = str(next(PHONES))
    come(service, Inbound(phone, number, first))
    assert service.post("/suppressions", phones=[phone], **added).json["counts"]["unchanged"] == 1
    come(service, Inbound(phone, number, first), Inbound(phone, number, "START"))
    assert suppressed(service, phone) == added["reason"]


def test_a_stop_from_a_name_or_to_an_unknown_number_opts_nobody_out(service: Service, number: str) -> None:
    come(service, Inbound("MPESA", number, "STOP"), Inbound("254711000125", "1", "STOP"))
    assert suppressed(service, "254711000125") is None
    assert shown(service, f"?sender_id={number}")[0]["keyword"] == "stop"


@pytest.mark.parametrize(
    ("phone", "written", "ton"),
    [
        ("254711000131", "254711000131", 1),
        ("254711000132", "00254711000132", 1),
        ("254711000133", "0711000133", 2),
        ("254711000134", "711000134", 2),
        ("254711000135", "0711000135", 0),
    ],
)
def test_a_stop_counts_however_the_carrier_writes_its_number(
    service: Service, short_code: str, phone: str, written: str, ton: int
) -> None:
    """Also as a national number of the account's country."""
    service.transact(change_account, service.account_id, {"country": "KE"})
    come(service, inbound(config(), Message(written, short_code, b"STOP", source_ton=ton, source_npi=1)))
    assert shown(service, f"?phone={phone}")[0]["keyword"] == "stop"
    assert suppressed(service, phone) == "stop"
    assert service.send(phone).json["code"] == "recipient_suppressed"


def test_a_stop_from_a_number_that_cannot_be_read_opts_nobody_out_and_is_reported(
    service: Service, short_code: str
) -> None:
    """A national number of an unknown country."""
    service.transact(change_account, service.account_id, {"country": None})
    service.execute("DELETE FROM inbound")
    assert service.transact(keywords_finding).outcome == "ok"
    come(service, inbound(config(), Message("711000137", short_code, b"STOP", source_ton=2, source_npi=1)))
    assert shown(service)[0]["phone"] == "0711000137"
    assert service.scalar("SELECT count(*) FROM suppression WHERE phone = 711000137") == 0
    finding = service.transact(keywords_finding)
    assert (finding.outcome, "711000137" in str(finding)) == ("notice", False)
    assert "1 STOP or START" in finding.detail and "main" in finding.detail


@pytest.mark.parametrize(
    ("number", "written"),
    [
        ("14155550131", "4155550131"),
        ("254204900132", "0204900132"),
        ("254204900133", "204900133"),
        ("254204900134", "00254204900134"),
        ("390612345135", "0612345135"),
    ],
)
def test_a_stop_counts_however_the_carrier_writes_the_number_it_was_sent_to(
    service: Service, number: str, written: str
) -> None:
    """thinQ delivers `to=4155550131`, and an SMSC 0204900132, or after 00."""
    phone = str(next(PHONES))
    service.approve(service.account_id, number)
    come(service, Inbound(phone, written, "STOP"))
    assert (suppressed(service, phone), shown(service, f"?phone={phone}")[0]["sender_id"]) == ("stop", number)


def test_a_number_that_may_be_one_of_two_is_nobodys_and_reported(service: Service) -> None:
    service.execute("DELETE FROM inbound")
    for number in ("254204900138", "255204900138"):
        service.approve(service.account_id, number)
    assert service.transact(destinations_finding).outcome == "ok"
    come(service, Inbound(PHONE, "0204900138", "STOP"), Inbound(PHONE, "0204900138", "Hello"))
    assert (suppressed(service), shown(service)) == (None, [])
    finding = service.transact(destinations_finding)
    assert finding.outcome == "notice" and "1 STOP message " in finding.detail and "'0204900138'" in finding.detail


def test_messages_to_the_forms_of_a_number_are_reported_until_they_are_assigned(service: Service) -> None:
    service.execute("DELETE FROM inbound")
    number, first, second = "254204900139", str(next(PHONES)), str(next(PHONES))
    come(service, Inbound(first, number, "STOP"), Inbound(second, "0204900139", "STOP"))
    decide(service, service.account_id, number, "approved")
    assert "2 STOP messages " in service.transact(destinations_finding).detail
    assert service.transact(assign_inbound, number, service.account_id).messages == 2
    assert service.transact(destinations_finding).outcome == "ok"
    assert suppressed(service, first) == suppressed(service, second) == "stop"
    assert len(shown(service, f"?sender_id={number}")) == 2


def test_a_stop_to_a_suspended_sender_id_still_counts(service: Service, number: str) -> None:
    phone = "254711000126"
    service.execute("UPDATE sender_id SET state = 'suspended' WHERE sender_id = :it", it=number)
    come(service, Inbound(phone, number, "STOP"))
    assert suppressed(service, phone) == "stop"


def decide(service: Service, account: int, number: str, state: Decision) -> None:
    service.transact(request_sender, account, number)
    service.transact(decide_sender, account, number, state, "a reason")


def give_up(service: Service, number: str) -> None:
    (held,) = service.get(f"/sender-ids?search={number}").json["data"]
    assert service.delete(f"/sender-ids/{held['id']}").status_code == 200


def be_rejected(service: Service, number: str) -> None:
    decide(service, service.account_id, number, "rejected")


@pytest.mark.parametrize(("text", "reason"), [("STOP", "stop"), ("STOP who is this?", "possible_stop")])
@pytest.mark.parametrize("lose", [give_up, be_rejected])
def test_a_stop_to_a_number_that_the_account_has_lost_still_counts(
    service: Service, lose: Callable[[Service, str], None], text: str, reason: str
) -> None:
    """But the account gets no messages to it, and no START: they may be another's soon."""
    phone, number = str(next(PHONES)), str(next(NUMBERS))[-5:]
    service.transact(change_account, service.account_id, {"country": "KE"})
    decide(service, service.account_id, number, "approved")
    lose(service, number)
    come(service, Inbound(f"0{phone[3:]}", number, text, national=True), Inbound(phone, number, "START"))
    assert (suppressed(service, phone), shown(service, f"?sender_id={number}")) == (reason, [])
    assert [each["sent_to"] for each in service.transact(list_unassigned, sent_to=number)] == [number] * 2


def test_a_stop_to_a_number_that_another_account_has_by_now_counts_for_that_one(service: Service) -> None:
    number, first, second = str(next(NUMBERS)), str(next(PHONES)), str(next(PHONES))
    other = service.new_account("other")
    decide(service, service.account_id, number, "approved")
    give_up(service, number)
    decide(service, other, number, "approved")
    come(service, Inbound(first, number, "STOP"))
    service.transact(decide_sender, other, number, "rejected", "a reason")
    come(service, Inbound(second, number, "STOP"))
    assert suppressed(service, first) is suppressed(service, second) is None
    assert service.scalar("SELECT count(*) FROM suppression WHERE account_id = :other", other=other) == 2


def test_a_test_of_a_carrier_takes_no_number_from_a_customer(service: Service) -> None:
    number, first, second = str(next(NUMBERS)), str(next(PHONES)), str(next(PHONES))
    service.execute("DELETE FROM inbound")
    service.transact(prepare, number, number)
    come(service, Inbound(PHONE, number, "STOP"))
    assert [each["phone"] for each in service.transact(list_unassigned, sent_to=number)] == [PHONE]
    assert service.transact(destinations_finding).outcome == "notice"
    decide(service, service.account_id, number, "approved")
    service.transact(prepare, number, f"{number} again")
    come(service, Inbound(first, number, "STOP"))
    give_up(service, number)
    come(service, Inbound(second, number, "STOP"))
    assert suppressed(service, first) == suppressed(service, second) == "stop"


def test_a_message_repeated_by_the_carrier_is_stored_and_acted_on_once(service: Service, number: str) -> None:
    phone = "254711000127"
    stop = Inbound(phone, number, "STOP", identity=f"SM-{number}")
    come(service, stop)
    come(service, Inbound(phone, number, "START", identity=f"SN-{number}"))
    come(service, stop, stop)
    assert len(shown(service, f"?sender_id={number}")) == 2
    assert suppressed(service, phone) is None


def parts_of(number: str, *texts: str, reference: int = 7) -> list[Inbound]:
    count = len(texts)
    return [Inbound(PHONE, number, part, reference, count, place) for place, part in enumerate(texts, 1)]


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_parts_come_in_any_order(service: Service, number: str, order: tuple[int, ...]) -> None:
    parts = parts_of(number, "a" * 153, "b" * 153, "\ud83d")
    for place in order:
        assert shown(service, f"?sender_id={number}") == []
        come(service, parts[place])
    (shown_message,) = shown(service, f"?sender_id={number}")
    assert shown_message["message"] == "a" * 153 + "b" * 153 + "\ufffd"
    assert (shown_message["segments"], shown_message["missing_segments"]) == (3, 0)


def test_a_part_that_comes_again_is_the_same_part(service: Service, number: str) -> None:
    parts = parts_of(number, "one ", "two")
    come(service, parts[0], parts[0])
    come(service, parts[1])
    come(service, parts[1], parts[0])
    assert [each["message"] for each in shown(service, f"?sender_id={number}")] == ["one two"]


def test_a_part_is_joined_with_those_of_the_release_before(service: Service, number: str) -> None:
    first, second = parts_of(f"+{number}", "one ", "two")
    come(service, first)
    assert service.scalar("SELECT count(*) FROM inbound_part WHERE sender_id = :it", it=first.sent_to) == 1
    come(service, second)
    assert [each["message"] for each in shown(service, f"?sender_id={number}")] == ["one two"]


def test_a_reused_reference_starts_a_new_message(service: Service, number: str) -> None:
    come(service, *parts_of(number, "one ", "two"))
    come(service, *parts_of(number, "three ", "four"))
    come(service, parts_of(number, "lost ", "x")[0])
    come(service, *parts_of(number, "five ", "six"))
    messages = shown(service, f"?sender_id={number}")
    assert [each["message"] for each in messages] == ["five six", "lost ", "three four", "one two"]
    assert [each["missing_segments"] for each in messages] == [0, 1, 0, 0]


def test_parts_through_many_connections_at_once_make_one_message(service: Service, number: str) -> None:
    parts = parts_of(number, *(f"{place} " for place in range(8)))
    start = threading.Barrier(8)

    def one(part: Inbound) -> None:
        start.wait()
        come(service, part)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(one, parts))
    assert [each["message"] for each in shown(service, f"?sender_id={number}")] == ["0 1 2 3 4 5 6 7 "]


def test_an_incomplete_message_is_stored_after_a_day_and_is_a_possible_stop(service: Service, number: str) -> None:
    come(service, parts_of(number, "STOP", "x")[0])
    assert shown(service, f"?sender_id={number}") == []
    service.execute("UPDATE inbound_part SET received_at = now() - interval '25 hours'")
    assert end_parts(service.engine) >= 1
    (shown_message,) = shown(service, f"?sender_id={number}")
    found = (shown_message["message"], shown_message["missing_segments"], shown_message["keyword"])
    assert found == ("STOP", 1, "possible_stop")
    assert suppressed(service) == "possible_stop"
    assert end_parts(service.engine) == 0


@pytest.mark.parametrize("message", ["", "\0", "\ud800", "a\0b", "x" * 40_000])
def test_every_text_of_a_phone_can_be_stored(service: Service, number: str, message: str) -> None:
    come(service, Inbound(PHONE, number, message))
    assert len(shown(service, f"?sender_id={number}")) == 1


@pytest.mark.parametrize(
    ("reference", "total", "place"),
    [
        (1, 3, 0),
        (1, 3, 4),
        (1, 0, 0),
        (1, 1, 1),
        (1, 256, 1),
        (1, 65_535, 65_535),
        (2**31, 2, 1),
        (2**72, 2, 1),
    ],
)
def test_a_part_with_impossible_numbers_is_a_message_of_its_own(
    service: Service, number: str, reference: int, total: int, place: int
) -> None:
    come(service, Inbound(PHONE, number, "odd", reference, total, place), Inbound(PHONE, number, "beside it"))
    assert {each["message"] for each in shown(service, f"?sender_id={number}")} == {"odd", "beside it"}


@contextmanager
def carrier(service: Service, on_inbound: Any = None, **settings: Any) -> Iterator[Smsc]:
    """A bind to a simulated SMSC, whose messages from phones go to the service."""
    with running(SmscSettings(port=0)) as smsc:
        driver = SmppCarrier(config(port=smsc.port, **settings))
        keep = on_inbound or (lambda messages: come(service, *messages))
        driver.open(KeptInbox(store_inbound=keep))
        try:
            binds = 2 if "+" in settings.get("bind", "") else 1
            wait_until(lambda: smsc.records.counts.binds >= binds, 60, "the binds")
            yield smsc
        finally:
            driver.close()


def speak(smsc: Smsc, phone: str, number: str, message: str) -> None:
    smsc.loop.call_soon_threadsafe(smsc.receive_inbound, phone, number, message)


@pytest.mark.parametrize("bind", ["transceiver", "transmitter+receiver"])
def test_an_smsc_gives_messages_of_every_kind(service: Service, number: str, bind: str) -> None:
    texts = ["Hi", "€" * 81, "я" * 150, "ж" * 66 + "😀" * 40, "x" * 1600, "STOP"]
    with carrier(service, bind=bind) as smsc:
        for message in texts:
            speak(smsc, PHONE, number, message)
        wait_until(lambda: len(shown(service, f"?sender_id={number}")) == len(texts), 60, "the messages")
        wait_until(lambda: smsc.records.counts.inbound_answered == smsc.records.counts.inbound, 60, "the responses")
    assert sorted(each["message"] for each in shown(service, f"?sender_id={number}")) == sorted(texts)


def test_a_part_with_oversized_parameters_holds_up_no_other_message(service: Service, number: str) -> None:
    for reference, total, place in (
        (b"\x90\0\0\1", b"\2", b"\1"),
        (b"\1", b"\xff\xff", b"\1"),
        (b"\1" * 9, b"\2", b"\2"),
    ):
        numbers = {Tag.SAR_MSG_REF_NUM: reference, Tag.SAR_TOTAL_SEGMENTS: total, Tag.SAR_SEGMENT_SEQNUM: place}
        come(service, Inbound(PHONE, number, "STOP"), inbound(config(), Message(PHONE, number, b"odd", tlvs=numbers)))
    assert sorted(each["message"] for each in shown(service, f"?sender_id={number}")) == ["STOP"] * 3 + ["odd"] * 3


def test_the_smsc_keeps_what_could_not_be_stored(service: Service, number: str) -> None:
    tries = itertools.count()

    def fail_at_first(messages: list[Inbound]) -> None:
        if not next(tries):
            raise OSError("the database is away")
        come(service, *messages)

    with carrier(service, fail_at_first) as smsc:
        speak(smsc, PHONE, number, "Hello")
        wait_until(lambda: smsc.records.counts.inbound_answered == 1, 60, "the response")
    assert [each["message"] for each in shown(service, f"?sender_id={number}")] == ["Hello"]
