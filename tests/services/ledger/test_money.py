"""Credits on a real Postgres: random histories add up after every step, and no race makes or loses one."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import count
from threading import Barrier
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, multiple, rule
from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import DBAPIError, IntegrityError

from api.commit.commit import commit_sends
from shared.accounts.administration import Refused, create_account, freeze_accounts, suspend_account
from shared.accounts.change_account import change_account
from shared.accounts.top_ups import adjust, top_up
from shared.audit.rules import RULES
from shared.ids import batch_of, message_id, new_batch_id, new_id
from shared.ledger.ledger import Entry, ReserveRefused, post
from tests.harness.drafts import single
from tests.harness.sql import Database

NUMBERS = count(1)
CREDITS = st.integers(1, 500)
BOOK_RULES = [each for each in RULES if each.name in ("account_caches", "not_negative", "zero_sum", "ledger_guarded")]


@dataclass(slots=True)
class Purse:
    """What an account should have."""

    available: int = 0
    limit: int = 0
    reserved: int = 0
    revenue: int = 0
    paid: int = 0
    entries: int = 0

    @property
    def to_spend(self) -> int:
        return self.available + self.limit


def new_account(engine: Engine, credits: int = 0, limit: int = 0) -> int:
    with engine.begin() as connection:
        account = create_account(connection, f"account {next(NUMBERS)}")
        if credits:
            top_up(connection, account, credits, "test", "first")
        change_account(connection, account, {"credit_limit": limit})
    return account


def balance(engine: Engine, account: int) -> tuple[int, int]:
    row = Database(engine).row("SELECT available, reserved FROM account WHERE id = :id", id=account)
    return row.available, row.reserved


def entries(engine: Engine, account: int) -> int:
    return int(Database(engine).scalar("SELECT count(*) FROM ledger WHERE account_id = :id", id=account))


def breaches(engine: Engine) -> list[Any]:
    """What breaks the rules of the books."""
    with engine.connect() as connection:
        return [row for each in BOOK_RULES for row in connection.execute(text(each.sql))]


def reserve(engine: Engine, account: int, amount: int, subject: UUID | None = None) -> UUID:
    subject = subject or new_id()
    with engine.begin() as connection:
        post(connection, [Entry(account, "reserve", amount, "send", subject)])
    return subject


class History(RuleBasedStateMachine):
    """Any order of top-ups, adjustments, changed credit limits, reserves, captures, releases and refunds of a few
    accounts, and of attempts at more."""

    engine: Engine
    open_reserves = Bundle("open_reserves")
    captured = Bundle("captured")
    posted = Bundle("posted")

    def __init__(self) -> None:
        super().__init__()
        self.purses: dict[int, Purse] = {}

    @initialize(credits=st.lists(CREDITS, min_size=2, max_size=3))
    def open_accounts(self, credits: list[int]) -> None:
        for each in credits:
            self.purses[new_account(self.engine, each)] = Purse(available=each, paid=each, entries=1)

    def account(self, number: int) -> int:
        return list(self.purses)[number % len(self.purses)]

    @rule(target=posted, number=st.integers(0, 2), credits=CREDITS)
    def add(self, number: int, credits: int) -> Any:
        account, key = self.account(number), str(next(NUMBERS))
        made = Database(self.engine).transact(top_up, account, credits, "more", key)
        purse = self.purses[account]
        purse.available += credits
        purse.paid += credits
        purse.entries += 1
        assert (made.balance, made.repeated) == (purse.to_spend, False)
        assert Database(self.engine).transact(top_up, account, credits, "again", key)[1:] == (purse.to_spend, True)
        refusal = f"used for a top-up of {credits} credits"
        with pytest.raises(Refused, match=refusal), self.engine.begin() as connection:
            top_up(connection, account, credits + 1, "another", key)
        return multiple()

    @rule(number=st.integers(0, 2), limit=st.integers(0, 500))
    def limit_credit(self, number: int, limit: int) -> None:
        """Raised, or lowered even below what the account owes."""
        account = self.account(number)
        Database(self.engine).transact(change_account, account, {"credit_limit": limit})
        self.purses[account].limit = limit

    @rule(number=st.integers(0, 2), credits=st.one_of(CREDITS, CREDITS.map(lambda credits: -credits)))
    def adjust_once(self, number: int, credits: int) -> None:
        account, key = self.account(number), str(next(NUMBERS))
        purse = self.purses[account]
        if credits < 0 and purse.to_spend + credits < 0:
            with pytest.raises(Refused), self.engine.begin() as connection:
                adjust(connection, account, credits, "more than it may owe", key)
            return
        purse.available += credits
        purse.paid += credits
        purse.entries += 1
        for repeated in (False, True):
            made = Database(self.engine).transact(adjust, account, credits, "a correction", key)
            assert made[1:] == (purse.to_spend, repeated)
        with pytest.raises(Refused), self.engine.begin() as connection:
            adjust(connection, account, -credits, "another", key)

    @rule(target=open_reserves, number=st.integers(0, 2), amounts=st.lists(CREDITS, min_size=1, max_size=4))
    def reserve_several(self, number: int, amounts: list[int]) -> Any:
        """All of them in one commit, or none."""
        account = self.account(number)
        purse = self.purses[account]
        wanted = [Entry(account, "reserve", amount, "send", new_id()) for amount in amounts]
        if sum(amounts) > purse.to_spend:
            with pytest.raises(ReserveRefused), self.engine.begin() as connection:
                post(connection, wanted)
            return multiple()
        assert Database(self.engine).transact(post, wanted) == {account: purse.to_spend - sum(amounts)}
        purse.available -= sum(amounts)
        purse.reserved += sum(amounts)
        purse.entries += len(amounts)
        return multiple(*[(account, entry.subject, entry.amount) for entry in wanted])

    @rule(target=open_reserves, amounts=st.lists(CREDITS, min_size=3, max_size=3))
    def reserve_of_all_accounts(self, amounts: list[int]) -> Any:
        """Of every account in one commit, or of none."""
        wanted = [
            Entry(account, "reserve", amount, "send", new_id())
            for account, amount in zip(self.purses, amounts, strict=False)
        ]
        if any(entry.amount > self.purses[entry.account_id].to_spend for entry in wanted):
            with pytest.raises(ReserveRefused), self.engine.begin() as connection:
                post(connection, wanted)
            return multiple()
        Database(self.engine).transact(post, wanted)
        for entry in wanted:
            purse = self.purses[entry.account_id]
            purse.available -= entry.amount
            purse.reserved += entry.amount
            purse.entries += 1
        return multiple(*[(entry.account_id, entry.subject, entry.amount) for entry in wanted])

    @rule(target=captured, reserved=consumes(open_reserves), share=st.integers(0, 100))
    def settle(self, reserved: tuple[int, UUID, int], share: int) -> Any:
        """Part of it is captured and the rest given back; entries of 0 are none."""
        account, _, amount = reserved
        taken, batch = amount * share // 100, new_batch_id()
        purse = self.purses[account]
        left = Database(self.engine).transact(
            post,
            [
                Entry(account, "capture", taken, "batch", batch, 1),
                Entry(account, "release", amount - taken, "batch", batch, 1),
            ],
        )
        purse.available += amount - taken
        purse.reserved -= amount
        purse.revenue += taken
        purse.entries += (taken > 0) + (amount > taken)
        assert left == {account: purse.to_spend}
        return multiple((account, batch, taken)) if taken else multiple()

    @rule(taken=consumes(captured))
    def refund(self, taken: tuple[int, UUID, int]) -> None:
        account, batch, amount = taken
        Database(self.engine).transact(post, [Entry(account, "refund", amount, "message", message_id(batch, 1))])
        purse = self.purses[account]
        purse.available += amount
        purse.revenue -= amount
        purse.entries += 1

    @rule(reserved=open_reserves)
    def reserve_again(self, reserved: tuple[int, UUID, int]) -> None:
        """An operation is posted once."""
        account, subject, _ = reserved
        with pytest.raises((IntegrityError, ReserveRefused)), self.engine.begin() as connection:
            post(connection, [Entry(account, "reserve", 1, "send", subject)])

    @rule(taken=captured)
    def settle_again(self, taken: tuple[int, UUID, int]) -> None:
        account, batch, amount = taken
        with pytest.raises(IntegrityError), self.engine.begin() as connection:
            post(connection, [Entry(account, "capture", amount, "batch", batch, 1)])

    @rule(number=st.integers(0, 2))
    def take_more_than_is_reserved(self, number: int) -> None:
        account = self.account(number)
        with pytest.raises(IntegrityError, match="reserved"), self.engine.begin() as connection:
            post(connection, [Entry(account, "capture", self.purses[account].reserved + 1, "batch", new_batch_id(), 1)])

    @rule(number=st.integers(0, 2), amount=CREDITS)
    def roll_back(self, number: int, amount: int) -> None:
        with self.engine.connect() as connection:
            post(connection, [Entry(self.account(number), "topup", amount, "topup", new_id())])
            connection.rollback()

    @invariant()
    def every_credit_is_somewhere(self) -> None:
        for account, purse in self.purses.items():
            assert balance(self.engine, account) == (purse.available, purse.reserved)
            assert purse.paid == purse.available + purse.reserved + purse.revenue
            assert min(purse.reserved, purse.revenue) >= 0
            assert entries(self.engine, account) == purse.entries
        assert breaches(self.engine) == []


@pytest.fixture
def history(engine: Engine) -> Iterator[type[History]]:
    """The machine with a database; the settings of its test case bound the time."""
    History.engine = engine
    yield History


def test_any_history_adds_up(history: type[History]) -> None:
    history.TestCase.settings = settings(
        max_examples=25, stateful_step_count=20, suppress_health_check=list(HealthCheck), database=None
    )
    case = history.TestCase()
    case.runTest()


@pytest.mark.parametrize("change", ["UPDATE ledger SET amount = amount + 1", "DELETE FROM ledger", "TRUNCATE ledger"])
def test_the_ledger_refuses_changes(engine: Engine, change: str) -> None:
    account = new_account(engine, 10)
    Database(engine).execute("GRANT UPDATE, DELETE, TRUNCATE ON ledger TO CURRENT_USER")
    with pytest.raises(DBAPIError, match="append-only"), engine.begin() as connection:
        connection.execute(text(change))
    assert entries(engine, account) == 1


@pytest.mark.parametrize(
    "column",
    ["amount = 0", "amount = -1", "debit = 'revenue'", "credit = 'funding'", "kind = 'gift'", "subject_type = 'x'"],
)
def test_the_ledger_refuses_rows_that_are_no_double_entry(engine: Engine, column: str) -> None:
    account = new_account(engine)
    name, value = column.split(" = ")
    row = {"kind": "'topup'", "debit": "'funding'", "credit": "'available'", "amount": "1", "subject_type": "'topup'"}
    row[name] = value
    with pytest.raises(IntegrityError, match="ck_ledger"), engine.begin() as connection:
        connection.execute(
            text(
                f"INSERT INTO ledger (account_id, subject, {', '.join(row)})"
                f" VALUES (:account, :subject, {', '.join(row.values())})"
            ),
            {"account": account, "subject": new_id()},
        )


@pytest.mark.parametrize(
    ("change", "constraint"),
    [
        ("available = -6", "available"),
        ("reserved = -1", "reserved"),
        ("credit_limit = -1", "credit_limit"),
        ("state = 'suspended', reserved = 1", "available"),
    ],
)
def test_the_database_refuses_what_no_account_may_owe_or_reserve(engine: Engine, change: str, constraint: str) -> None:
    account = new_account(engine, 10, limit=5)
    with pytest.raises(IntegrityError, match=f"ck_account_{constraint}"), engine.begin() as connection:
        connection.execute(text(f"UPDATE account SET {change} WHERE id = :id"), {"id": account})


def test_a_limit_below_the_debt_stops_new_reserves_only(engine: Engine) -> None:
    account = new_account(engine, 10, limit=20)
    first, second = reserve(engine, account, 15), reserve(engine, account, 15)
    with engine.begin() as connection:
        change_account(connection, account, {"credit_limit": 5})
    assert not spends(engine, account, 1)
    with engine.begin() as connection:
        post(connection, [Entry(account, "capture", 15, "send", first, 1)])
        post(connection, [Entry(account, "release", 10, "send", second, -1)])
    assert not spends(engine, account, 1) and balance(engine, account) == (-10, 5)
    with engine.begin() as connection:
        assert top_up(connection, account, 6, "invoice", "paid")[1:] == (1, False)
    assert spends(engine, account, 1) and not spends(engine, account, 1)
    assert breaches(engine) == []


def test_a_reserve_without_enough_credits_changes_nothing(engine: Engine) -> None:
    account, other = new_account(engine, 10), new_account(engine, 10)
    for amount in (11, 10**15):
        with pytest.raises(ReserveRefused) as refused, engine.begin() as connection:
            post(
                connection,
                [Entry(other, "reserve", 5, "send", new_id()), Entry(account, "reserve", amount, "send", new_id())],
            )
        assert refused.value.args == ([account],)
    assert balance(engine, account) == balance(engine, other) == (10, 0)
    assert entries(engine, account) == entries(engine, other) == 1


@pytest.mark.parametrize("stop", [suspend_account, lambda connection, account: freeze_accounts(connection, [account])])
def test_a_stopped_account_spends_nothing_and_is_still_settled(engine: Engine, stop: Any) -> None:
    account = new_account(engine, 10)
    reserve(engine, account, 4)
    with engine.begin() as connection:
        stop(connection, account)
    with pytest.raises(ReserveRefused):
        reserve(engine, account, 1)
    with engine.begin() as connection:
        post(connection, [Entry(account, "capture", 3, "batch", new_batch_id(), 1)])
        post(connection, [Entry(account, "release", 1, "send", new_id(), -1)])
    assert balance(engine, account) == (7, 0)


THREADS = 8


def together(act: Any, times: int) -> list[Any]:
    """The outcomes of as many calls of `act(number)`, made by THREADS threads that begin in the same moment."""
    barrier = Barrier(THREADS)

    def work(first: int) -> list[Any]:
        barrier.wait(60)
        return [act(number) for number in range(first, times, THREADS)]

    with ThreadPoolExecutor(THREADS) as pool:
        return [outcome for made in pool.map(work, range(THREADS)) for outcome in made]


def spends(engine: Engine, account: int, amount: int) -> bool:
    try:
        reserve(engine, account, amount)
    except ReserveRefused:
        return False
    return True


@pytest.mark.parametrize(
    ("credits", "limit", "amount"), [(100, 0, 1), (100, 0, 7), (1, 0, 1), (99, 0, 50), (50, 49, 7)]
)
def test_reserves_at_once_never_overspend(engine: Engine, credits: int, limit: int, amount: int) -> None:
    account = new_account(engine, credits, limit)
    made = together(lambda _: spends(engine, account, amount), 160)
    spent = (credits + limit) // amount * amount
    assert sum(made) * amount == spent
    assert balance(engine, account) == (credits - spent, spent)
    assert breaches(engine) == []


def accepts(engine: Engine, account: int) -> bool:
    try:
        with engine.begin() as connection:
            commit_sends(connection, [single(account)])
    except ReserveRefused:
        return False
    return True


def test_sends_accepted_at_once_end_at_the_credit_limit(engine: Engine) -> None:
    account = new_account(engine, 3, limit=4)
    assert sum(together(lambda _: accepts(engine, account), 16)) == 7
    assert balance(engine, account) == (-4, 7)
    assert breaches(engine) == []


@pytest.mark.parametrize(("add", "credits"), [(top_up, 4), (adjust, -4)])
def test_what_is_repeated_at_the_same_time_is_added_once(engine: Engine, add: Any, credits: int) -> None:
    account = new_account(engine, 10)

    def act(_: int) -> bool:
        with engine.begin() as connection:
            return bool(add(connection, account, credits, "twice", "key").repeated)

    assert sorted(together(act, 8)) == [False] + [True] * 7
    assert balance(engine, account) == (10 + credits, 0)


def test_two_accounts_in_both_orders_at_once_do_not_deadlock(engine: Engine) -> None:
    pair = [new_account(engine, 1_000), new_account(engine, 1_000)]

    def act(number: int) -> None:
        order = pair if number % 2 else pair[::-1]
        with engine.begin() as connection:
            post(connection, [Entry(account, "reserve", 1, "send", new_id()) for account in order])

    together(act, 160)
    assert [balance(engine, account) for account in pair] == [(840, 160)] * 2


def test_sends_of_two_accounts_are_accepted_while_others_are_settled(engine: Engine) -> None:
    pair = [new_account(engine, 1_000), new_account(engine, 1_000)]
    for account in pair:
        reserve(engine, account, 500)

    def act(number: int) -> None:
        order = pair if number // 2 % 2 else pair[::-1]
        with engine.begin() as connection:
            if number % 2:
                commit_sends(connection, [single(account) for account in order])
            else:
                post(connection, [Entry(account, "capture", 1, "batch", new_batch_id(), 1) for account in order])

    together(act, 160)
    assert [balance(engine, account) for account in pair] == [(420, 500)] * 2
    assert breaches(engine) == []


def test_an_operation_repeated_at_the_same_time_is_posted_once(engine: Engine) -> None:
    account, subject = new_account(engine, 100), new_id()

    def act(_: int) -> bool:
        try:
            reserve(engine, account, 1, subject)
        except IntegrityError:
            return False
        return True

    assert sum(together(act, 24)) == 1
    assert balance(engine, account) == (99, 1)


@settings(
    max_examples=50,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    database=None,
)
@given(made=st.uuids(), index=st.integers(0, 0xFFFF))
def test_the_database_finds_a_messages_batch_as_the_code_does(connection: Connection, made: UUID, index: int) -> None:
    message = message_id(UUID(int=made.int & ~0xFFFF), index)
    found = connection.execute(text("SELECT batch_of(:id)"), {"id": message}).scalar_one()
    assert found == batch_of(message)
