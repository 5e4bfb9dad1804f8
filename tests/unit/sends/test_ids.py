"""Identifiers: in order of time, and a message's batch and place can be read from its id."""

import time
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from uuid import RFC_4122, UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared import ids
from shared.ids import batch_of, first_id_at, index_of, message_id, new_batch_id, new_id, prefix_of

BATCHES = st.uuids().map(lambda made: UUID(int=made.int & ~0xFFFF))
INDEXES = st.integers(1, 0xFFFF)
SECONDS = st.floats(0, 4e9)


@given(BATCHES, INDEXES)
def test_a_message_names_its_batch_and_place(batch: UUID, index: int) -> None:
    message = message_id(batch, index)
    assert batch_of(message) == batch
    assert index_of(message) == index
    assert batch < message
    assert str(message) == f"{prefix_of(batch)}{index:04x}"
    assert (batch_of(batch), index_of(batch)) == (batch, 0)


@given(BATCHES, INDEXES, INDEXES)
def test_messages_of_a_batch_are_in_the_order_of_their_places(batch: UUID, one: int, other: int) -> None:
    assert (message_id(batch, one) < message_id(batch, other)) == (one < other)


@given(SECONDS)
def test_ids_are_version_7(at: float) -> None:
    for made in (new_id(at), new_id(), new_batch_id()):
        assert made.version == 7
        assert made.variant == RFC_4122


@given(st.datetimes(datetime(1970, 1, 2), datetime(2090, 1, 1), timezones=st.just(UTC)))
def test_a_range_of_time_is_a_range_of_ids(at: datetime) -> None:
    low = first_id_at(at)
    assert low < new_id((at + timedelta(milliseconds=1)).timestamp())
    assert new_id((at - timedelta(milliseconds=2)).timestamp()) < low


def test_a_hundred_thousand_are_all_different_and_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """While nobody sets the clock."""
    ahead = time.time_ns() - time.monotonic_ns()
    monkeypatch.setattr(ids, "time", SimpleNamespace(time_ns=lambda: ahead + time.monotonic_ns()))
    made = [new_id() for _ in range(100_000)]
    assert len(set(made)) == len(made)
    microseconds = [each.int >> 64 for each in made]
    assert microseconds == sorted(microseconds)


def test_batches_made_in_the_same_moment_do_not_share_messages() -> None:
    made = [new_batch_id() for _ in range(10_000)]
    assert len(set(made)) == len(made)
    assert {index_of(batch) for batch in made} == {0}
