"""Receipts of a carrier over SMPP, from its delivery until the database has them."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

import fakeredis
import pytest
from sqlalchemy import Engine, text

from shared.carriers.smpp.constants import RESPONSE, Command, Status
from shared.carriers.smpp.pdu import Message, message_body, pdu, read_message
from tests.harness.house import wait_until
from tests.harness.scripted_smsc import ScriptedSmsc
from tests.harness.service import Service
from tests.harness.sql import Database
from worker.process import WorkerProcess
from worker.receipts.match_doubts import resolve_by_receipts

PATIENCE = 60.0
phones = (str(254_711_000_000 + number) for number in count())
FILE = """
[carrier.main]
kind = "smpp"
host = "127.0.0.1"
port = {}
system_id = "me"
password = "secret"
"""


class Smsc:
    """Accepts every part as id0, id1, …, except those that a test refuses, and counts the responses to deliveries."""

    def __init__(self, refuse: dict[int, int] | None = None) -> None:
        self.smsc = ScriptedSmsc()
        self.acks: list[int] = []
        self.accepted = 0
        self.deliver_at_once = False
        self._refuse = refuse or {}
        """Status of the response to a part, by its number from 1."""

    def run(self) -> None:
        """Serve one bind until it ends."""
        try:
            self.smsc.accept()
            while True:
                each = self.smsc.read()
                if each.command == Command.SUBMIT_SM:
                    message = read_message(each.command, each.body)
                    part = message.short_message[5] if message.esm_class else 1
                    if part in self._refuse:
                        self.smsc.answer(each, status=self._refuse[part])
                        continue
                    identity = f"id{self.accepted}"
                    self.accepted += 1
                    self.smsc.answer(each, identity.encode())
                    if self.deliver_at_once:
                        self.smsc.send(receipt(message.destination, identity))
                elif each.command == Command.DELIVER_SM | RESPONSE:
                    self.acks.append(each.status)
                elif each.command == Command.ENQUIRE_LINK:
                    self.smsc.send(pdu(Command.ENQUIRE_LINK_RESP, 0, each.sequence))
        except OSError:
            pass

    def tell(self, *deliveries: bytes) -> None:
        """Deliver these together, and wait until they are acknowledged."""
        expected = len(self.acks) + len(deliveries)
        self.smsc.send(b"".join(deliveries))
        self.wait_for_acks(expected)

    def wait_for_acks(self, count: int) -> None:
        wait_until(lambda: len(self.acks) >= count, PATIENCE, "the responses to the deliveries")


def receipt(phone: str, identity: str, stat: str = "DELIVRD") -> bytes:
    now = datetime.now(UTC).strftime("%y%m%d%H%M%S")
    words = f"id:{identity} sub:001 dlvrd:001 submit date:{now} done date:{now} stat:{stat} err:000 text:"
    message = Message(phone, "ACME", words.encode("latin-1"), esm_class=4)
    return pdu(Command.DELIVER_SM, 0, 7, message_body(message))


@contextmanager
def bound(service: Service, folder: Path, smsc: Smsc) -> Iterator[None]:
    """Another worker, that the carrier delivers to over another bind."""
    file = folder / "other.toml"
    file.write_text(FILE.format(smsc.smsc.port))
    other = WorkerProcess(replace(service.settings, carriers_file=str(file)), service.engine, fakeredis.FakeRedis())
    carrier = other.carriers["main"]
    thread = threading.Thread(target=smsc.run)
    with smsc.smsc:
        thread.start()
        other.open(carrier)
        try:
            wait_until(lambda: carrier.trouble is None, PATIENCE, "a bind")
            yield
        finally:
            carrier.close()
            other.audit_engine.dispose()
            thread.join(PATIENCE)


@contextmanager
def served(engine: Engine, folder: Path, smsc: Smsc) -> Iterator[Service]:
    """The service, with a worker that is bound to the SMSC."""
    file = folder / "carriers.toml"
    file.write_text(FILE.format(smsc.smsc.port))
    service = Service(engine, carriers_file=str(file))
    carrier = service.worker.carriers["main"]
    thread = threading.Thread(target=smsc.run)
    with smsc.smsc:
        thread.start()
        service.worker.open(carrier)
        try:
            wait_until(lambda: carrier.trouble is None, PATIENCE, "a bind")
            yield service
        finally:
            carrier.close()
            thread.join(PATIENCE)


@pytest.fixture
def phone() -> str:
    """One that no other test sends to."""
    return next(phones)


@pytest.fixture(autouse=True)
def no_receipts_left(engine: Engine) -> Iterator[None]:
    yield
    with engine.begin() as connection:
        connection.execute(text("DELETE FROM receipt"))
        connection.execute(text("DELETE FROM unreadable_receipt"))


def last_message(engine: Engine) -> tuple[str, str | None]:
    """Status and error of the last message."""
    with engine.connect() as connection:
        row = text("SELECT CAST(status AS text), error FROM message ORDER BY id DESC LIMIT 1")
        status, error = connection.execute(row).one()
        return status, error


def unreadable(engine: Engine) -> list[str]:
    return Database(engine).scalars("SELECT reason FROM unreadable_receipt ORDER BY id")


@pytest.mark.parametrize("identity", ["ab\0c", "a\x07b"])
def test_an_id_with_a_control_character_delays_no_other_receipt(
    engine: Engine, tmp_path: Path, phone: str, identity: str
) -> None:
    smsc = Smsc()
    with served(engine, tmp_path, smsc) as service:
        service.send(phone)
        smsc.tell(receipt(phone, identity), receipt(phone, "id0"))
        assert (last_message(engine)[0], smsc.acks) == ("delivered", [0, 0])
        assert unreadable(engine) == ["no_id_or_state"]


def test_what_the_database_refuses_is_kept_and_delays_no_other_receipt(
    engine: Engine, tmp_path: Path, phone: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if an id that it refuses had not been noticed."""
    monkeypatch.setattr("worker.carriers.smpp.receipt.receipt_id", lambda config, from_text, from_tlv: from_text)
    smsc = Smsc()
    with served(engine, tmp_path, smsc) as service:
        service.send(phone)
        smsc.tell(receipt(phone, "ab\0c", "UNDELIV"), receipt(phone, "id0"), receipt(phone, "x\0"))
        assert (last_message(engine)[0], smsc.acks) == ("delivered", [0, 0, 0])
        assert unreadable(engine) == ["refused", "refused"]
        assert service.worker.carriers["main"].unreadable == 2


def test_a_message_sent_in_part_is_charged_by_a_receipt_that_came_while_it_was_open(
    engine: Engine, tmp_path: Path, phone: str
) -> None:
    smsc = Smsc({2: Status.ESME_RINVDSTADR})
    smsc.deliver_at_once = True
    with served(engine, tmp_path, smsc) as service:
        service.send(phone, "x" * 200)
        smsc.wait_for_acks(1)
        resolve_by_receipts(engine, newest=600)
        assert last_message(engine) == ("undelivered", "partly_sent")
        assert service.get("/balance").json["balance"] == 998


@pytest.mark.parametrize(
    ("order", "second", "result"), [((0, 1), "DELIVRD", "delivered"), ((1, 0), "UNDELIV", "undelivered")]
)
def test_receipts_of_one_message_may_come_over_two_binds(
    engine: Engine,
    tmp_path: Path,
    phone: str,
    order: tuple[int, int],
    second: str,
    result: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The process that has submitted the message gets the receipt of the first part, and another one the second's."""
    for module in ("deliveries", "other_binds"):
        monkeypatch.setattr(f"worker.carriers.smpp.{module}.LOOK_SECONDS", 0.1)
    smsc, elsewhere = Smsc(), Smsc()
    with served(engine, tmp_path, smsc) as service, bound(service, tmp_path, elsewhere):
        service.send(phone, "x" * 200)
        deliveries = [(smsc, receipt(phone, "id0")), (elsewhere, receipt(phone, "id1", second))]
        for each in order:
            deliveries[each][0].tell(deliveries[each][1])
        wait_until(lambda: last_message(engine)[0] == result, PATIENCE, "the message's receipt")
        assert Database(engine).scalar("SELECT count(*) FROM receipt") == 0
