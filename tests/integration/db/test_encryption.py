"""With a key, no text can be read in the database, and everything works as without one."""

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import Engine, event, text

from bulksms import texts
from bulksms.local.postgres import Postgres
from bulksms.texts import rewrite
from shared.audit.check import audit
from shared.carriers.smpp.constants import UDH_INDICATOR
from shared.db.connection import driver_of
from shared.db.encryption_keys import WrongTextKeys, check_text_keys
from shared.encryption import TextKey, Texts
from shared.inbound import Coded, Inbound, end_parts, store
from shared.outbox import listen
from tests.harness.database import dispose, fresh_database
from tests.harness.deliveries import settled_events
from tests.harness.service import Service
from tests.harness.smpp import smpp_house
from tests.harness.sql import Database
from tests.harness.times import ahead
from tests.integration.privacy.test_privacy import erase, where
from worker.carriers.base import MessageGroup, Outcome
from worker.jobs.retention import forget

FIRST, SECOND = TextKey("k1", b"1" * 32), TextKey("k2", b"2" * 32)
PLAIN = TextKey("", b"")
CANARY = "Xanthippe"
PHONES = [f"25471100000{n}" for n in range(4)]


@pytest.fixture
def engine(postgres_server: Postgres) -> Iterator[Engine]:
    """A database whose texts are encrypted with FIRST."""
    engine = with_keys(fresh_database(postgres_server), FIRST)
    yield engine
    dispose(engine)


def with_keys(engine: Engine, *keys: TextKey) -> Engine:
    """The database as a process with these keys has it."""
    return engine.execution_options(texts=Texts(keys))


class Heard(Service):
    """A service whose carrier notes what it is given."""

    def __init__(self, engine: Engine) -> None:
        super().__init__(engine)
        self.texts: list[str] = []
        submit = self.worker.simulator.submit

        def noted(message_groups: Sequence[MessageGroup]) -> list[Outcome]:
            self.texts += [message_group.text for message_group in message_groups for _ in message_group.phones]
            return submit(message_groups)

        self.worker.simulator.submit = noted  # type: ignore[method-assign]


@pytest.fixture
def service(engine: Engine) -> Heard:
    return Heard(engine)


def receive(service: Service, *messages: Inbound) -> None:
    service.transact(store, "main", messages)


def everything(service: Service) -> dict[str, str]:
    """Texts wherever there can be one: sends, values, what phones said, events, answers. Returns the sends."""
    number = service.approve(service.account_id, "2020")
    listen(service.engine, service.account_id)
    personal = [{"phone": phone, "variables": {"name": CANARY}} for phone in PHONES]
    made = {
        "single": service.send(message=f"To {CANARY}").json["send_id"],
        "bulk": service.bulk(PHONES, f"To {CANARY}").json["send_id"],
        "personal": service.bulk(personal, "To {{name}}").json["send_id"],
        "later": service.send(message=CANARY, send_at=ahead()).json["send_id"],
    }
    assert service.patch(f"/sends/{made['later']}", message=f"Later, {CANARY}").status_code == 200
    paused = service.post(f"/sends/{made['later']}/pause", headers={"Idempotency-Key": "k"})
    again = service.post(f"/sends/{made['later']}/pause", headers={"Idempotency-Key": "k"})
    assert paused.json["message"] == f"Later, {CANARY}"
    assert (again.json, again.headers["Idempotency-Replayed"]) == (paused.json, "true")
    receive(service, Inbound(PHONES[0], number, f"From {CANARY}"))
    receive(service, Inbound(PHONES[0], number, f"{CANARY}, 1", reference=7, number=1, total=2))
    receive(service, Inbound(PHONES[0], number, f" and 2, {CANARY}", reference=7, number=2, total=2))
    coded = Coded(CANARY.encode(), "gsm7")
    receive(service, Inbound(PHONES[1], number, CANARY, reference=8, number=1, total=2, coded=coded))
    return made


def shown(service: Service) -> list[str]:
    """All texts that the API shows."""
    sends = service.get("/sends").json["data"]
    events = settled_events(service, "?types=message.received")
    inbound = service.get("/inbound").json["data"]
    replayed = service.post(f"/sends/{sends[0]['send_id']}/pause", headers={"Idempotency-Key": "k"}).json
    return [each["message"] for each in (*sends, *inbound, *(event["data"] for event in events), replayed)]


def test_it_works(service: Heard) -> None:
    made = everything(service)
    octets = CANARY.encode().hex()
    in_hex = (octets, CANARY.encode("utf-16-be").hex(), octets.encode("utf-16-be").hex())
    assert where(service.engine, CANARY, *in_hex) == set()
    assert service.texts == [f"To {CANARY}"] * 9
    assert [service.counts(made[name])["sent"] for name in ("single", "bulk", "personal")] == [1, 4, 4]
    received = [f"{CANARY}, 1 and 2, {CANARY}", f"From {CANARY}"]
    later = f"Later, {CANARY}"
    assert shown(service) == [later, "To {{name}}", f"To {CANARY}", f"To {CANARY}", *received, *received[::-1], later]
    assert audit(service.engine, full=True) == []


def test_a_group_with_values(service: Heard) -> None:
    group = service.new_group([])
    contacts = [{"phone": phone, "fields": {"name": f"{CANARY} {phone[-1]}"}} for phone in PHONES]
    assert service.post(f"/groups/{group}/contacts", contacts=contacts).status_code == 200
    service.post("/sms/send-group", sender_id="ACME", group_id=group, message="To {{name}}")
    service.sweep()
    assert sorted(service.texts) == [f"To {CANARY} {n}" for n in range(4)]
    assert where(service.engine, CANARY) == {"contact"}


def test_a_page_of_messages_decrypts_each_text_once(service: Heard, monkeypatch: pytest.MonkeyPatch) -> None:
    recipients = [{"phone": phone, "variables": {"name": f"{CANARY} {n}"}} for n, phone in enumerate(PHONES)]
    send = service.bulk(recipients, "To {{name}}").json["send_id"]
    opened, opening = list[str](), Texts.open

    def noted(texts: Texts, stored: str, of: UUID | str) -> str:
        opened.append(str(of))
        return opening(texts, stored, of)

    monkeypatch.setattr(Texts, "open", noted)
    page = service.get("/messages?texts=true").json["data"]
    assert sorted(message["text"] for message in page) == [f"To {CANARY} {n}" for n in range(4)]
    assert len(opened) == len(set(opened)) == 2
    assert send in opened


def test_forgotten_and_erased_texts_are_gone(service: Heard) -> None:
    made = everything(service)
    service.deliver_receipts()
    assert erase(service, PHONES[0])["status"] == "completed"
    assert [service.get(f"/sends/{made[name]}").json["message"] for name in ("single", "later")] == ["", ""]
    assert PHONES[0] not in str(service.get(f"/sends/{made['personal']}/messages").json)
    forget(service.engine, 30, datetime.now(UTC) + timedelta(days=40))
    assert service.get(f"/sends/{made['personal']}").json["message"] == ""
    assert audit(service.engine, full=True) == []


def test_without_the_key_nothing_is_read_accepted_or_sent(service: Heard, engine: Engine) -> None:
    held = service.bulk(PHONES, CANARY, send_at=ahead()).json["send_id"]
    with engine.begin() as connection:
        connection.execute(text("UPDATE batch SET state = 'queued', due_at = now()"))
        connection.execute(text("UPDATE send SET state = 'queued', send_at = NULL"))
    for keys, problem in (((), "'k1', which TEXT_KEYS does not have"), ((TextKey("k1", b"9" * 32),), "not the one")):
        other = with_keys(engine, *keys)
        with pytest.raises(WrongTextKeys, match=problem):
            check_text_keys(other)
        stranger = Service(other)
        for response in (stranger.get(f"/sends/{held}", token=service.token), stranger.send("254711000009")):
            assert (response.status_code, response.json["code"]) == (503, "unavailable")
        ready = stranger.client.get("/readyz")
        assert (ready.status_code, problem in ready.json["status"]) == (503, True)
        with pytest.raises(WrongTextKeys):
            stranger.worker.sweeper.work()
        assert stranger.submitted() == {}
    service.sweep()
    assert service.texts == [CANARY] * 4


def test_a_send_with_a_tampered_text_is_held_and_the_others_go_on(service: Heard, engine: Engine) -> None:
    sends = [service.bulk([phone], f"{CANARY} {phone}").json["send_id"] for phone in PHONES[:2]]
    bad = service.bulk(PHONES, CANARY, send_at=ahead()).json["send_id"]
    good = service.send(message="Good", send_at=ahead()).json["send_id"]
    with engine.begin() as connection:
        swap = "UPDATE send SET message = (SELECT message FROM send WHERE id = :from) WHERE id = :to"
        connection.execute(text(swap), {"from": sends[0], "to": bad})
        connection.execute(text("UPDATE batch SET state = 'queued', due_at = now() WHERE state = 'waiting'"))
        connection.execute(text("UPDATE send SET state = 'queued', send_at = NULL WHERE state = 'scheduled'"))
    service.sweep()
    assert service.texts == [f"{CANARY} {phone}" for phone in PHONES[:2]] + ["Good"]
    assert service.counts(good)["sent"] == 1
    row = Database(engine).row("SELECT state, held_by, held_reason FROM send WHERE id = :id", id=bad)
    assert tuple(row) == ("held", "operator", "Its text cannot be decrypted.")
    assert audit(engine, full=True) == []


def test_a_part_that_cannot_be_decrypted_does_not_hold_up_others(
    service: Heard, engine: Engine, caplog: pytest.LogCaptureFixture
) -> None:
    number = service.approve(service.account_id, "2020")
    for reference in (1, 2, 3):
        receive(service, Inbound(PHONES[0], number, f"{CANARY} {reference}", reference=reference, number=1, total=2))
    receive(service, Inbound(PHONES[0], number, " whole", reference=3, number=2, total=2))
    with engine.begin() as connection:
        swap = """
            UPDATE inbound_part SET text = (SELECT text FROM inbound_part WHERE reference = 2) WHERE reference = 1
        """
        connection.execute(text(swap))
        connection.execute(text("UPDATE inbound_part SET received_at = now() - interval '25 hours'"))
    for ended in (1, 0):
        assert end_parts(engine) == ended
    assert "cannot be read" in caplog.text and CANARY not in caplog.text and PHONES[0] not in caplog.text
    assert Database(engine).scalars("SELECT reference FROM inbound_part") == [1]
    received = service.get("/inbound").json["data"]
    assert [each["message"] for each in received] == [f"{CANARY} 2", f"{CANARY} 3 whole"]


def test_keys_can_change_and_encryption_can_be_turned_on_and_off(service: Heard, engine: Engine) -> None:
    everything(service)
    before = shown(service)
    for keys, needed in (
        ((SECOND, FIRST), ["k2"]),
        ((SECOND,), ["k2"]),
        ((PLAIN, SECOND), []),
        ((), []),
        ((FIRST,), ["k1"]),
    ):
        other = with_keys(engine, *keys)
        made = rewrite(other)
        assert (made.left, made.keys) == (False, needed)
        assert bool(made.texts["sends"]) == (keys not in ((SECOND,), ()))
        with other.connect() as connection:
            assert list(connection.execute(text("SELECT id FROM text_key")).scalars()) == needed
        again = Service(other)
        again.account_id, again.token = service.account_id, service.token
        assert shown(again) == before
        assert bool(where(engine, CANARY)) == (not needed)
        assert rewrite(other).texts == dict.fromkeys(made.texts, 0)
    assert audit(engine, full=True) == []


def test_no_statement_looks_at_more_than_a_page(
    service: Heard, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a table of any size, each must end within the statement timeout, also if little is left to rewrite."""
    monkeypatch.setattr(texts, "PAGE", 5)
    for number in range(12):
        service.send(message=f"{CANARY} {number}")
    other, searches = with_keys(engine, SECOND, FIRST), list[tuple[str, Any]]()

    def note(connection: Any, cursor: Any, statement: str, parameters: Any, context: Any, many: bool) -> None:
        if "starts_with" in statement:
            searches.append((statement, parameters))

    assert rewrite(other).texts["sends"] == 12
    event.listen(other, "before_cursor_execute", note)
    assert rewrite(other).texts["sends"] == 0
    event.remove(other, "before_cursor_execute", note)
    looked_at = list[int]()
    for statement, parameters in searches:
        with engine.connect() as connection:
            cursor = driver_of(connection).cursor()
            cursor.execute("SET LOCAL enable_seqscan = off")
            plan = str(cursor.execute(f"EXPLAIN (ANALYZE) {statement}", parameters).fetchall())
            looked_at += map(int, re.findall("Rows Removed by Filter: ([0-9]+)", plan))
    assert looked_at and max(looked_at) <= 5


def test_a_locked_row_is_skipped_and_still_needs_its_key(service: Heard, engine: Engine) -> None:
    service.bulk(PHONES, CANARY)
    other = with_keys(engine, SECOND, FIRST)
    with engine.begin() as connection:
        connection.execute(text("SELECT FROM send FOR UPDATE"))
        made = rewrite(other)
    assert made.left
    check_text_keys(other)
    with pytest.raises(WrongTextKeys, match="'k1'"):
        check_text_keys(with_keys(engine, SECOND))
    assert rewrite(other).keys == ["k2"]
    check_text_keys(with_keys(engine, SECOND))


def test_a_part_that_came_over_smpp_is_encrypted_and_sent(engine: Engine) -> None:
    service, hidden = Service(engine), CANARY.encode().hex()
    with smpp_house(service) as smpp:
        part = bytes((5, 0, 3, 7, 2, 1)) + CANARY.encode()
        message_id = smpp.bound().submit(text=part, esm_class=UDH_INDICATOR).message_id
    shown = service.get(f"/messages/{message_id}").json
    assert (shown["text"], shown["status"]) == (CANARY, "sent")
    assert not where(engine, hidden)
    assert rewrite(with_keys(engine, SECOND, FIRST)).texts["parts over SMPP"] == 1
    assert not where(engine, hidden)
    assert rewrite(with_keys(engine, PLAIN, SECOND)).texts["parts over SMPP"] == 1
    assert where(engine, hidden)
