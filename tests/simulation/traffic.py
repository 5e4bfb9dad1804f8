"""The accounts of a run, what they send, and what they think better of."""

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy import Engine, text

from api.accept.prices import SendPrices
from api.commit.commit import commit_sends
from api.commit.draft import Draft
from api.problems import Problem
from api.resources.sends import control as control
from shared.accounts.administration import Refused, create_account
from shared.accounts.sandbox import ensure_sandbox
from shared.accounts.top_ups import top_up
from shared.contacts.groups import add_contacts, create_group, remove_contacts
from shared.contacts.suppressions import suppress
from shared.db.connection import transaction
from shared.lifecycle import Category
from shared.prices.price_table import ONE_CREDIT, PriceTable
from shared.sends import holding
from shared.sends.rules import Rules
from shared.sms.countries import country_prefix
from shared.sms.segments import segment
from tests.harness.prices import publish_prices

CREDITS = 100_000
COUNTRIES = (254700000000, 491510000000, 336120000000)
"""A phone of each; the next ones follow."""
PRICES = (("", "254", 3), ("", "25470000001", 5), ("", "49", 7), ("marketing", "49", 2), ("", "", 1))
TEXTS = ("Hi", "Hi", "Hi " * 60)
"""One segment, one segment, two."""
STATE = text("SELECT state FROM send WHERE id = :send")
STOPPED = text(
    """
    SELECT id FROM send
     WHERE state IN ('paused', 'canceled') OR (state = 'held' AND held_by NOT IN ('canary', 'stop_if'))
    """
)
HELD_BY_A_RULE = text("SELECT id FROM send WHERE state = 'held' AND held_by IN ('canary', 'stop_if') ORDER BY id")
"""They go on by themselves, and at any time."""


@dataclass(slots=True)
class Account:
    """One customer. Its sender ID tells its messages at the carrier."""

    id: int
    sender_id: str
    sandbox: "Account | None" = None
    """Where its test keys send."""
    suppressed: dict[str, datetime] = field(default_factory=dict)
    """Phones that opted out, and when that was committed."""


@dataclass(slots=True)
class Traffic:
    """Everything that customers and operators do in one run."""

    engine: Engine
    rng: random.Random
    now: Callable[[], datetime]
    shared_phones: float
    """How many sends go to the phones of another send."""
    accounts: list[Account] = field(default_factory=list)
    prices: list[tuple[int | None, PriceTable]] = field(default_factory=list)
    """The price version of each account; the first has none."""
    sends: dict[UUID, Draft] = field(default_factory=dict)
    """Those for which a client has its response."""
    stopped: set[UUID] = field(default_factory=set)
    """Sends that are paused, held or canceled: none of their messages may be claimed."""
    stops: Counter[UUID] = field(default_factory=Counter)
    """How often each send was stopped."""
    recipients: dict[UUID, list[str]] = field(default_factory=dict)
    """The phones of each send."""
    phones: int = 0

    def open_accounts(self, count: int) -> None:
        """Open accounts with enough credits for the run."""
        self.prices.append((None, ONE_CREDIT))
        for number in range(count):
            with transaction(self.engine) as connection:
                account = create_account(connection, f"customer-{number}", weight=1 + number, authentication=True)
                top_up(connection, account, CREDITS, "test", "first")
                sandbox = ensure_sandbox(connection, account)
            self.accounts.append(Account(account, f"SENDER{number}", Account(sandbox, f"SANDBOX{number}")))
            if number:
                version = publish_prices(self.engine, PRICES[number - 1 :], f"list-{number}", account)
                self.prices.append((version, PriceTable(PRICES[number - 1 :])))

    def account(self, account_id: int) -> Account:
        """A live account or a sandbox."""
        live = ((account, account.sandbox) for account in self.accounts)
        return next(each for pair in live for each in pair if each is not None and each.id == account_id)

    def send(self, most: int) -> None:
        """One account sends something to up to `most` phones."""
        account = self.rng.choice(self.accounts)
        sandbox = account.sandbox
        assert sandbox is not None
        kind = self.rng.choices(("single", "bulk", "group"), (3, 4, 2))[0]
        phones = self._new_phones(1 if kind == "single" else self.rng.randint(most // 3, most))
        is_test, segmentation = self.rng.random() < 0.2, segment(self.rng.choice(TEXTS))
        prices = SendPrices(*self.prices[self.accounts.index(account)], self.rng.choice(list(Category)))
        contacts = Counter(map(country_prefix, phones))
        costs = prices.of_group(contacts, contacts) if kind == "group" else prices.of_list(phones)
        draft = Draft(
            account_id=account.id,
            api_key_id="key",
            test=is_test,
            kind=kind,
            sender_id=account.sender_id,
            message="Hi",
            segmentation=segmentation,
            category=prices.category,
            created_at=self.now(),
            expires_at=self.now() + timedelta(seconds=self.rng.choice((20, 300, 300, 3600))),
            phones=[] if kind == "group" else phones,
            submitted=len(phones),
            price_version_id=prices.version_id,
            **costs.of_text(segmentation.count, phones),
        )
        if draft.test:
            account = sandbox
            draft.account_id, draft.sender_id = sandbox.id, sandbox.sender_id
        if self.rng.random() < 0.15:
            draft.send_at = self.now() + timedelta(seconds=self.rng.randint(1, 15))
        if self.rng.random() < 0.2:
            draft.rate = self.rng.randint(5, 30)
        if kind != "single":
            draft.rules = self._rules(len(phones))
        if kind == "group":
            draft.group_id, draft.group_bound = self._new_group(account, phones), len(phones)
        with transaction(self.engine) as connection:
            commit_sends(connection, [draft])
        self.sends[draft.id] = draft
        self.recipients[draft.id] = phones
        if self.rng.random() < 0.5:
            self._opt_out(draft)

    def change_something(self) -> str:
        """Somebody cancels, pauses or holds a send, lets it go on, opts out or leaves a group. Returns what."""
        what = self.rng.choice(("cancel", "pause", "hold", "go_on", "go_on", "go_on", "opt_out", "leave"))
        send = self.rng.choice([None, *self.sends])
        if send is None:
            return ""
        if what == "opt_out":
            self._opt_out(self.sends[send])
        elif what == "leave":
            self._leave(self.sends[send])
        else:
            self.control(what, send)
        return what

    def control(self, what: str, send: UUID) -> None:
        """Cancel, pause or hold a send, or let it go on; what its state does not allow changes nothing."""
        try:
            with transaction(self.engine) as connection:
                if what == "cancel":
                    control.cancel(connection, send)
                elif what == "pause":
                    control.pause(connection, send)
                elif what == "hold":
                    holding.hold(connection, send, "test")
                elif what == "go_on" and connection.execute(STATE, {"send": send}).scalar_one() == "held":
                    holding.release(connection, send)
                else:
                    control.resume(connection, send)
        except (Problem, Refused):
            return
        self.look_what_is_stopped()

    def go_on(self) -> None:
        """Let everything go on that is paused or held."""
        self.look_what_is_stopped()
        for send in sorted(self.stopped):
            self.control("go_on", send)
        with self.engine.connect() as connection:
            held = list(connection.execute(HELD_BY_A_RULE).scalars())
        for send in held:
            self.control("resume", send)

    def look_what_is_stopped(self) -> None:
        """Read the states of the sends."""
        with self.engine.connect() as connection:
            stopped = set(connection.execute(STOPPED).scalars())
        self.stops.update(stopped - self.stopped)
        self.stopped = stopped

    def _rules(self, recipients: int) -> Rules | None:
        """Now and then a canary, or a send that is held when too much of it fails. Takes nothing from the seed."""
        rng = random.Random(f"rules {self.phones}")
        rules: Rules = {}
        if rng.random() < 0.2:
            rules["canary"] = rng.randint(1, recipients)
        if rng.random() < 0.2:
            rules["stop_if"] = {"failed_share": 0.3, "min_messages": rng.randint(3, 10)}
        return rules or None

    def _opt_out(self, draft: Draft) -> None:
        """Some of the phones of a send opt out."""
        account = self.account(draft.account_id)
        phones = self.recipients[draft.id]
        for phone in self.rng.sample(phones, self.rng.randint(1, 1 + len(phones) // 3)):
            with transaction(self.engine) as connection:
                suppress(connection, account.id, phone, "test")
            account.suppressed.setdefault(phone, self.now())

    def _leave(self, draft: Draft) -> None:
        if draft.group_id is not None:
            with transaction(self.engine) as connection:
                remove_contacts(connection, draft.group_id, [self.rng.choice(self.recipients[draft.id])])

    def _new_group(self, account: Account, phones: list[str]) -> UUID:
        with transaction(self.engine) as connection:
            group = create_group(connection, account.id, f"Group {len(self.sends)}")
            add_contacts(connection, group, phones)
        return group

    def _new_phones(self, count: int) -> list[str]:
        """Phones that nobody has sent to, and now and then those of another send, as far as it has so many."""
        self.phones += count
        phones = [str(COUNTRIES[number % 3] + self.phones - number) for number in range(count)]
        if self.recipients and self.rng.random() < self.shared_phones:
            others = self.rng.choice(list(self.recipients.values()))[:count]
            phones[: len(others)] = others
        return phones
