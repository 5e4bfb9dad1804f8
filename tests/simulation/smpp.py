"""A customer of the SMPP server, and turns of that server: submits with keys whose answers may be lost, and receipts.

The product's `Deliverer` and `store` run as they are, in an event loop of each turn. What would wait there does not.
"""

import asyncio
import itertools
import json
import random
from collections import defaultdict
from collections.abc import Callable
from contextlib import ExitStack, contextmanager
from datetime import datetime, timedelta
from typing import Any
from unittest.mock import patch
from uuid import UUID

from sqlalchemy import Engine, text

import shared.outbox
from api.accept.prices import SendPrices
from api.commit.draft import Draft
from api.commit.group_commit import GroupCommit
from api.idempotency import Key
from api.smpp import deliveries
from api.smpp.deliveries import Deliverer
from api.smpp.receipts import State, state_of
from api.smpp.submits import PATH
from shared.accounts.smpp_credentials import KEY_PREFIX, create_credential
from shared.carriers.error_codes import code_of
from shared.carriers.smpp.constants import Command, Status
from shared.carriers.smpp.pdu import read_message
from shared.db.connection import transaction
from shared.lifecycle import Category
from shared.prices.price_table import ONE_CREDIT
from shared.sms.segments import segment
from tests.simulation.carrier import Breach
from tests.simulation.database import Database
from tests.simulation.tasks import Task, stand
from tests.simulation.traffic import Account

SYSTEM_ID = "customer"
CREDENTIAL = text("SELECT id FROM smpp_credential")
FIRST_PHONE = 254_900_000_000
"""Of phones that no other send has."""
WINDOW = 3
LISTEN = text("INSERT INTO listener (account_id) VALUES (:account)")
UNREAD = """
    SELECT 1 FROM event e JOIN smpp_credential c ON c.account_id = e.account_id
     WHERE (e.xid, e.id) > (c.xid, c.event_id) LIMIT 1
"""
SENDS = "SELECT count(*) FROM send WHERE smpp IS NOT NULL"
STATUSES = "SELECT id, status::text, error FROM message WHERE id = ANY(%s)"
PAID = "SELECT l.subject FROM ledger l JOIN send s ON l.subject = s.id WHERE l.kind = 'reserve' AND s.smpp IS NOT NULL"


class Bind:
    """A bind that receives. What comes is taken, refused for now, answered late, or the bind ends before its answer."""

    def __init__(self, customer: "SmppCustomer", end: Callable[["Bind"], None]) -> None:
        self._customer, self._end = customer, end
        self._open: dict[int, Callable[[int | None], None]] = {}
        self._numbers = itertools.count()

    @property
    def room(self) -> int:
        """How many more deliveries may be unanswered."""
        return WINDOW - len(self._open)

    def deliver(self, body: bytes, answered: Callable[[int | None], None]) -> None:
        """Take a delivery in one of these ways."""
        number = next(self._numbers)
        self._open[number] = answered
        happens = self._customer.happens()
        if happens == "refuse":
            self._answer(number, Status.ESME_RMSGQFUL)
            return
        if happens != "lose":
            self._customer.take(body)
        if happens in ("lose", "end"):
            self._end(self)
            unanswered, self._open = self._open, {}
            for each in unanswered.values():
                each(None)
        elif happens == "late":
            self._later(4, number)
        else:
            self._answer(number, Status.ESME_ROK)

    def _later(self, turns: int, number: int) -> None:
        if turns:
            asyncio.get_running_loop().call_soon(self._later, turns - 1, number)
        else:
            self._answer(number, Status.ESME_ROK)

    def _answer(self, number: int, status: int) -> None:
        answered = self._open.pop(number, None)
        if answered is not None:
            answered(status)


class SmppCustomer:
    """What the customer wants, was answered, and received."""

    def __init__(self, engine: Engine, rng: random.Random, now: Callable[[], datetime], submits: int) -> None:
        self._engine, self._rng, self._now = engine, rng, now
        self._left = submits
        self.faults = True
        self.answers: dict[str, set[str]] = defaultdict(set)
        """The ids that each key got; none as long as it has no answer."""
        self._receipts: defaultdict[str, set[str]] = defaultdict(set)
        self._under_way: dict[str, Task] = {}
        self._delivering: list[Task] = []

    def open(self, account: Account) -> None:
        """Have a credential, as if it was bound long ago: every process knows that the account listens."""
        self._account = account
        with transaction(self._engine) as connection:
            create_credential(connection, account.id, SYSTEM_ID, "a pepper", networks=None)
            connection.execute(LISTEN, {"account": account.id})
            self._credential = connection.execute(CREDENTIAL).scalar_one()
        shared.outbox._listening.clear()

    def begin(self, task: Callable[[str, Callable[[], object]], Task], wrote: Callable[[], None]) -> Task | None:
        """The next turn: a submit, or of the server's deliveries."""
        unanswered = [key for key, ids in self.answers.items() if not ids and self._may_begin(key)]
        if self._rng.random() < 0.5 and (self._left or unanswered):
            if self._left and (not unanswered or self._rng.random() < 0.5):
                self._left -= 1
                unanswered = [f"key-{len(self.answers)}"]
                self.answers[unanswered[0]] = set()
            elif self.faults and self._rng.random() < 0.3:  # one that was answered may be repeated, too
                unanswered = [key for key in self.answers if self._may_begin(key)]
            key = self._rng.choice(unanswered)
            self._under_way[key] = task("smpp submit", lambda: self._submit(key, wrote))
            return self._under_way[key]
        self._delivering = [each for each in self._delivering if not each.done]
        if len(self._delivering) == 2:
            return None
        self._delivering.append(task("smpp deliver", lambda: asyncio.run(self._deliver())))
        return self._delivering[-1]

    def happens(self) -> str:
        """What becomes of a delivery."""
        usual = ["take"] * 8
        return self._rng.choice([*usual, "refuse", "late", "late", "lose", "end"] if self.faults else usual)

    def take(self, body: bytes) -> None:
        """Read a receipt."""
        words = read_message(Command.DELIVER_SM, body).short_message.decode().split(" ")
        fields = dict(word.split(":", 1) for word in words if ":" in word)
        self._receipts[fields["id"]].add(fields["stat"])

    def rests(self, database: Database) -> bool:
        """Whether everything is answered and read."""
        tasks = (*self._under_way.values(), *self._delivering)
        is_over = not self._left and all(self.answers.values()) and all(task.done for task in tasks)
        return is_over and not database.run(UNREAD)

    def check(self, database: Database) -> None:
        """Each key has one answer, which is stored and paid for, and each final receipt has come."""
        for key, ids in self.answers.items():
            if len(ids) != 1:
                raise Breach(f"smpp: {key} has the answers {ids}")
        ids = {next(iter(each)) for each in self.answers.values()}
        if (stored := database.run(SENDS)[0][0]) != len(self.answers) or len(ids) != stored:
            raise Breach(f"smpp: {len(self.answers)} keys have {len(ids)} ids and {stored} sends")
        if (paid := len({row[0] for row in database.run(PAID)})) != stored:
            raise Breach(f"smpp: {stored} sends, and {paid} in the ledger")
        for message, status, error in database.run(STATUSES, ([UUID(each) for each in ids],)):
            state = state_of(status, code_of(status, error))
            if state != State.ENROUTE and state.name not in self._receipts[str(message)]:
                raise Breach(f"smpp: no receipt says that {message} is {state.name}: {self._receipts[str(message)]}")

    def _may_begin(self, key: str) -> bool:
        return key not in self._under_way or self._under_way[key].done

    def _submit(self, key: str, wrote: Callable[[], None]) -> None:
        committed = GroupCommit(self._engine).commit_alone(self._draft(key))
        wrote()
        stand("smpp answer")
        if not self.faults or self._rng.random() < 0.7:
            self.answers[key].add(json.loads(committed.body)["message_id"])

    def _draft(self, key: str) -> Draft:
        account, phone = self._account, str(FIRST_PHONE + int(key.removeprefix("key-")))
        segmentation, name = segment("Hi"), f"{KEY_PREFIX}{SYSTEM_ID}"
        costs = SendPrices(None, ONE_CREDIT, Category.TRANSACTIONAL).of_list([phone])
        return Draft(
            account_id=account.id,
            api_key_id=name,
            test=False,
            kind="single",
            sender_id=account.sender_id,
            message="Hi",
            segmentation=segmentation,
            category=Category.TRANSACTIONAL,
            created_at=self._now(),
            expires_at=self._now() + timedelta(seconds=300),
            phones=[phone],
            submitted=1,
            over_smpp={"registered": 1},
            key=Key(account.id, PATH, key, b"\0" * 32, name),
            **costs.of_text(segmentation.count, [phone]),
        )

    async def _deliver(self) -> None:
        """Claim the credential if it has events, and deliver until there are none or its bind ends."""

        async def in_thread(function: Callable[..., Any], *arguments: object) -> Any:
            return function(*arguments)

        deliverer = Deliverer(self._engine, in_thread)
        deliverer.add(self._credential, Bind(self, lambda bind: deliverer.remove(self._credential, bind)))
        await deliverer._poll()
        for task in list(deliverer._tasks.values()):
            await task


@contextmanager
def without_waiting() -> Any:
    """Positions are recorded, and what was refused is tried again, as soon as the event loop comes to it."""
    with ExitStack() as patches:
        for name in ("RECORD_SECONDS", "PAUSE_SECONDS"):
            patches.enter_context(patch.object(deliveries, name, 0.0))
        yield
