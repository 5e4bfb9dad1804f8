"""A send with a rate of its own goes on as soon as its rate allows, and never before."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from sqlalchemy import Engine

from api.commit.commit import commit_sends
from shared.accounts.administration import create_account
from shared.accounts.top_ups import top_up
from shared.settings import Settings
from tests.harness.drafts import single
from tests.harness.house import wait_until
from tests.harness.own_database import own_database
from tests.harness.sql import Database
from worker.carriers.base import MessageGroup, Outcome, ResponseKind, UnlimitedPace
from worker.sending.dispatch import Dispatcher
from worker.sending.paced_sends import SEND_RATE_SECONDS

RATE = 200


class Taker:
    """A carrier that takes everything at once."""

    name, rate, window, pace, trouble = "taker", 0.0, 1000, UnlimitedPace(), None

    def __init__(self) -> None:
        self.taken = 0

    def submit(self, message_groups: list[MessageGroup], limit: object = None) -> list[Outcome]:
        phones = sum(len(message_group.phones) for message_group in message_groups)
        self.taken += phones
        return [Outcome(ResponseKind.ACCEPTED, "1")] * phones


engine = own_database


def taking(engine: Engine) -> tuple[Taker, Dispatcher]:
    carrier = Taker()
    return carrier, Dispatcher(engine, carrier, carrier, Settings("", "", "", ""))  # type: ignore[arg-type]


@contextmanager
def waking(dispatcher: Dispatcher, work: Callable[[], object]) -> Iterator[None]:
    """Do the work each time that a paced send is due."""
    thread = threading.Thread(target=dispatcher.paced_sends.run, args=(work,))
    thread.start()
    try:
        yield
    finally:
        dispatcher.paced_sends.stop()
        thread.join()


def paced_send(engine: Engine, messages: int, rate: int = RATE) -> None:
    with engine.begin() as connection:
        account = create_account(connection, "paced")
        top_up(connection, account, 1_000, "test", "first")
        phones = [str(254711000000 + number) for number in range(messages)]
        commit_sends(connection, [replace(single(account), kind="bulk", phones=phones, rate=rate)])


def database_clock(engine: Engine) -> float:
    return float(Database(engine).scalar("SELECT extract(epoch FROM clock_timestamp())"))


def test_no_more_than_its_rate_is_claimed(engine: Engine) -> None:
    paced_send(engine, 600)
    carrier, dispatcher = taking(engine)
    began = database_clock(engine)
    cycles = 0
    while database_clock(engine) < began + 1:
        cycles += dispatcher.run_cycle()
        most = RATE * (database_clock(engine) - began + SEND_RATE_SECONDS)
        assert 0 < carrier.taken <= most
    assert carrier.taken >= cycles * RATE * SEND_RATE_SECONDS


def test_it_does_not_wait_for_a_clock_that_was_set_back(engine: Engine) -> None:
    paced_send(engine, 600)
    carrier, dispatcher = taking(engine)
    Database(engine).execute("UPDATE send SET paced_until = clock_timestamp() + interval '2 hours'")
    assert dispatcher.run_cycle()
    assert carrier.taken == RATE * SEND_RATE_SECONDS
    waits = "SELECT paced_until > clock_timestamp() + interval '10 seconds' FROM send"
    assert Database(engine).scalar(waits) is False


def test_it_goes_on_without_a_poll(engine: Engine) -> None:
    """Each claim wakes the worker for the next one."""
    paced_send(engine, 150)
    carrier, dispatcher = taking(engine)
    with waking(dispatcher, dispatcher.drain):
        assert dispatcher.run_cycle()
        wait_until(lambda: carrier.taken == 150, 60, "the whole send")


def test_a_slow_rate_takes_one_message_at_a_time(engine: Engine) -> None:
    paced_send(engine, 3, rate=1)
    carrier, dispatcher = taking(engine)
    began = database_clock(engine)
    cycles = dispatcher.drain()
    assert 1 <= cycles <= 1 + database_clock(engine) - began
    assert carrier.taken == cycles


def test_a_failure_does_not_end_the_waking(engine: Engine) -> None:
    paced_send(engine, 30)
    carrier, dispatcher = taking(engine)
    failures = iter([RuntimeError("once")])

    def work() -> None:
        for error in failures:
            dispatcher.run_cycle()
            raise error
        dispatcher.drain()

    with waking(dispatcher, work):
        assert dispatcher.run_cycle()
        wait_until(lambda: carrier.taken == 30, 60, "the whole send")


def test_a_second_claim_moves_the_next_one(engine: Engine) -> None:
    """One that came late is followed at once by another, and what was due then has been taken."""
    paced_send(engine, 150)
    _, dispatcher = taking(engine)
    Database(engine).execute("UPDATE send SET paced_until = clock_timestamp() - interval '0.5 s'")
    assert dispatcher.run_cycle()
    Database(engine).execute("UPDATE send SET paced_until = clock_timestamp(), rate = 1")
    assert dispatcher.run_cycle()
    cycles: list[int] = []
    with waking(dispatcher, lambda: cycles.append(dispatcher.drain())):
        wait_until(lambda: cycles, 60, "the next claim")
    assert cycles[0] >= 1
