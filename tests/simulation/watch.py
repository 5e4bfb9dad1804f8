"""Looks over the product's shoulder: at every claim, at every submit, and at what a recovery puts in doubt."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any
from unittest.mock import patch
from uuid import UUID

from sqlalchemy import Connection

import worker.recovery.recover
import worker.sending.dispatch
from shared.ids import batch_of
from shared.lifecycle import MessageStatus
from shared.sends.counters import Changes
from tests.simulation.carrier import Breach
from tests.simulation.tasks import Task, running
from tests.simulation.traffic import Traffic
from worker.sending.claimed_batch import ClaimedBatch
from worker.sending.settle_rest import Settlement

LIVE, TEST = "live", "test"
"""The carriers' names."""


@dataclass(frozen=True, slots=True)
class Claiming:
    """How the world was when a claim was committed."""

    at: datetime
    stopped: frozenset[UUID]
    crashes: int
    """Crashes of the database until then."""


@dataclass(slots=True)
class Turn:
    """What a task has claimed last."""

    batches: list[ClaimedBatch]
    claimed: Claiming
    unanswered: Counter[str] = field(default_factory=Counter)
    """Messages that a carrier gave no response to."""
    in_doubt: dict[UUID, int] = field(default_factory=dict)
    """Messages that a recovery put in doubt, by batch. It may not have been committed, and is then tried again."""
    after_stop: Counter[tuple[UUID, int]] = field(default_factory=Counter)
    """Messages submitted though their send was stopped, by send and how often it had been stopped."""
    after_opt_out: Counter[tuple[int, datetime]] = field(default_factory=Counter)
    """Messages submitted to phones that had opted out: those of the window on its way."""


class Watch:
    """What a run has claimed and submitted. Raises Breach at what should not be."""

    def __init__(self, traffic: Traffic, counts: Counter[str], window: int) -> None:
        self._traffic = traffic
        self._counts = counts
        self._window = window
        self._claiming: dict[Task, Claiming] = {}
        self._turns: dict[Task, Turn] = {}
        self._turn_of: dict[tuple[UUID, int], Turn] = {}

    @contextmanager
    def on(self) -> Iterator[None]:
        """Look, for as long as the block lasts."""
        claim, close = vars(worker.sending.dispatch)["claim"], vars(worker.recovery.recover)["close_intents"]
        with (
            patch.object(worker.sending.dispatch, "claim", partial(self._claim, claim)),
            patch.object(worker.recovery.recover, "close_intents", partial(self._close, close)),
        ):
            yield

    def claiming(self, task: Task) -> None:
        """A task's claim is about to be committed."""
        crashes = self._counts["database crashes"]
        self._claiming[task] = Claiming(self._traffic.now(), frozenset(self._traffic.stopped), crashes)

    def submitted(self, message: UUID, phone: str, carrier: str) -> None:
        """A message is submitted by the task that runs."""
        turn = self._turn()
        batch = next(batch for batch in turn.batches if batch.batch_id == batch_of(message))
        if carrier != carrier_of(batch):
            raise Breach(f"carrier: {message} is submitted to {carrier}")
        account = self._traffic.account(batch.account_id)
        if batch.send_id in self._traffic.stopped:
            stop = batch.send_id, self._traffic.stops[batch.send_id]
            turn.after_stop[stop] += 1
            if turn.after_stop[stop] > self._window:
                raise Breach(f"stopped: more than a window of {batch.send_id} left after it was stopped")
        since = account.suppressed.get(phone)
        if since is not None:
            turn.after_opt_out[account.id, since] += 1
            if since < turn.claimed.at or turn.after_opt_out[account.id, since] > self._window:
                raise Breach(f"suppressed: {message} is submitted to a phone that opted out at {since}")

    def unanswered(self, messages: int, carrier: str) -> None:
        """So many messages of a window of the task that runs had no response."""
        self._turn().unanswered[carrier] += messages

    def _turn(self) -> Turn:
        task = running()
        assert task is not None
        return self._turns[task]

    def _claim(self, claim: Callable[..., list[ClaimedBatch]], *arguments: Any) -> list[ClaimedBatch]:
        """Nothing is claimed that was stopped or has ended."""
        batches = claim(*arguments)
        task = running()
        if task is None or not batches:
            return batches
        turn = self._turns[task] = Turn(batches, self._claiming[task])
        for batch in batches:
            self._turn_of[batch.batch_id, batch.epoch] = turn
            if batch.send_id in turn.claimed.stopped:
                raise Breach(f"stopped: {batch.batch_id} is claimed, and its send is paused, held or canceled")
            if batch.expires_at <= turn.claimed.at:
                raise Breach(f"expired: {batch.batch_id} is claimed after its end at {batch.expires_at}")
        return batches

    def _close(
        self, close: Callable[..., None], connection: Connection, settlements: list[Settlement], counted: Changes
    ) -> None:
        """The crash of a worker leaves one window in doubt, and what had no response; a crash of the database more."""
        close(connection, settlements, counted)
        for settlement in settlements:
            doubts = settlement.tally[MessageStatus.IN_DOUBT]
            self._counts["recovered"] += 1
            self._counts["in doubt by recovery"] += doubts
            turn = self._turn_of.get((settlement.batch.batch_id, settlement.batch.epoch))
            if turn is None or turn.claimed.crashes != self._counts["database crashes"]:
                continue
            turn.in_doubt[settlement.batch.batch_id] = doubts
            for carrier in (LIVE, TEST):
                batches = [batch for batch in turn.batches if carrier_of(batch) == carrier]
                doubts = sum(turn.in_doubt.get(batch.batch_id, 0) for batch in batches)
                if doubts > self._window + turn.unanswered[carrier]:
                    raise Breach(f"window: {doubts} messages of a turn are in doubt, its windows are of {self._window}")


def carrier_of(batch: ClaimedBatch) -> str:
    """Where the slice's messages must go."""
    return TEST if batch.test else LIVE
