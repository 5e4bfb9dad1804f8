"""A customer of the SMPP server as customers should be: each submit has a key, and without an answer it is repeated."""

import itertools
import threading
import time
from collections import Counter, deque
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from sqlalchemy import Engine

from api.smpp.submits import IDEMPOTENCY_TAG
from shared.accounts.administration import create_account
from shared.accounts.smpp_credentials import NewCredential, create_credential
from shared.accounts.top_ups import top_up
from shared.carriers.smpp.constants import Command, Status
from tests.harness.house import SECRET_KEY
from tests.harness.smpp import Closed, Pdu, SmppClient, submit_body
from tests.harness.sql import Database

WINDOW = 5
AGAIN = (Status.ESME_RSYSERR, Status.ESME_RTHROTTLED)
"""Answers after which a submit is repeated."""
ANSWER_SECONDS = 10.0
"""Without any PDU for so long, with submits open, the customer binds anew."""
LOOK_SECONDS, REBIND_SECONDS = 0.05, 0.2


def new_credential(engine: Engine, name: str, credits: int = 100_000, **more: int) -> tuple[int, NewCredential]:
    """A credential of a new account that may send from ACME. Returns the account's id, too."""
    with engine.begin() as connection:
        account = create_account(connection, name)
        top_up(connection, account, credits, "test", name)
        options = {"networks": ["127.0.0.0/8"], "max_binds": 10, **more}
        made = create_credential(connection, account, name, SECRET_KEY, **options)
    Database(engine).approve(account, "ACME")
    return account, made


@dataclass(slots=True)
class Wanted:
    """One message: its key, its phone, and the id of each answer."""

    key: str
    phone: str
    ids: list[str] = field(default_factory=list)
    tries: int = 0
    seconds: float = 0.0
    """From the last try to its answer."""


class SmppCustomer(threading.Thread):
    """Submits about `rate` messages a second to consecutive phones, and answers receipts, until `stop`.

    If the bind ends, it binds at the next one of the ports.
    """

    def __init__(self, ports: Sequence[int], credential: NewCredential, first_phone: int, rate: float = 50.0) -> None:
        super().__init__(name="smpp-customer", daemon=True)
        self._ports, self._credential = itertools.cycle(ports), credential
        self._first_phone, self._pause = first_phone, 1 / rate
        self.wanted: list[Wanted] = []
        self.receipts: Counter[str] = Counter()
        """Final receipts that were answered, by message id."""
        self.refused: list[Pdu] = []
        """Answers with a status that should not come."""
        self.breaks = 0
        """How many binds ended, or were not made."""
        self._again: deque[Wanted] = deque()
        self._open: dict[int, tuple[Wanted, float]] = {}
        self._next_at = 0.0
        self._submits = True
        self._over = threading.Event()

    @property
    def answered(self) -> int:
        """How many messages have an answer."""
        return sum(bool(each.ids) for each in list(self.wanted))

    def run(self) -> None:
        while not self._over.is_set():
            with suppress(OSError, Closed):
                self._session()
            self._again.extendleft(wanted for wanted, _ in self._open.values())
            self._open.clear()
            self.breaks += not self._over.is_set()
            self._over.wait(REBIND_SECONDS)

    def hold(self) -> None:
        """Begin no more messages; what is begun is repeated until it is answered."""
        self._submits = False

    def is_settled(self, in_doubt: Collection[str] = ()) -> bool:
        """Whether each message has an answer, and each of these its final receipt, except those in doubt."""
        wanted = list(self.wanted)
        return all(each.ids and (each.ids[0] in self.receipts or each.ids[0] in in_doubt) for each in wanted)

    def repeat_all(self) -> None:
        """Submit everything once more, with the same keys."""
        self._again.extend(self.wanted)

    def stop(self) -> None:
        """End the bind."""
        self._over.set()
        self.join(60)
        assert not self.is_alive()

    def _session(self) -> None:
        client = SmppClient(next(self._ports))
        try:
            client.socket.settimeout(ANSWER_SECONDS)
            if client.bind(self._credential).status != Status.ESME_ROK:
                return
            client.socket.settimeout(LOOK_SECONDS)
            heard = time.monotonic()
            while not self._over.is_set():
                self._submit(client)
                try:
                    read = client.read()
                except TimeoutError:
                    if self._open and time.monotonic() - heard > ANSWER_SECONDS:
                        return
                    continue
                heard = time.monotonic()
                if read.command == Command.UNBIND:
                    return
                self._handle(client, read)
        finally:
            client.stop()

    def _submit(self, client: SmppClient) -> None:
        while len(self._open) < WINDOW and time.monotonic() >= self._next_at:
            if self._again:
                wanted = self._again.popleft()
            elif self._submits:
                number = len(self.wanted)
                wanted = Wanted(f"{self._credential.system_id}-{number}", str(self._first_phone + number))
                self.wanted.append(wanted)
            else:
                return
            body = submit_body(wanted.phone, tlvs={IDEMPOTENCY_TAG: wanted.key.encode()})
            wanted.tries += 1
            self._next_at = time.monotonic() + self._pause
            self._open[client.send(Command.SUBMIT_SM, body)] = wanted, time.monotonic()

    def _handle(self, client: SmppClient, read: Pdu) -> None:
        if read.command == Command.DELIVER_SM:
            receipt = read.receipt
            client.send(Command.DELIVER_SM_RESP, b"\0", Status.ESME_ROK, read.sequence)
            self.receipts[receipt["id"]] += 1
        elif read.command == Command.ENQUIRE_LINK:
            client.send(Command.ENQUIRE_LINK_RESP, sequence=read.sequence)
        elif read.command == Command.SUBMIT_SM_RESP:
            wanted, since = self._open.pop(read.sequence)
            wanted.seconds = time.monotonic() - since
            if read.status == Status.ESME_ROK:
                wanted.ids.append(read.message_id)
            else:
                self._again.append(wanted)
                if read.status not in AGAIN:
                    self.refused.append(read)
