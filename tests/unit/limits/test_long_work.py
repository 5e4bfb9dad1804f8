"""Long computations end when nobody waits for them."""

import time

import pytest

from api.limits.long_work import SLICE_SECONDS, LongWork
from shared.db.cancellation import Canceled, Cancellation, allow_cancellation


def test_long_work_ends_when_its_client_has_left() -> None:
    cancellation = Cancellation()
    with cancellation.active():
        allow_cancellation()
        work = LongWork()
        work.step()
        cancellation.cancel()
        time.sleep(SLICE_SECONDS)
        with pytest.raises(Canceled):
            work.step()


def test_work_that_may_not_be_cancelled_goes_on() -> None:
    cancellation = Cancellation()
    with cancellation.active():
        work = LongWork()
        cancellation.cancel()
        time.sleep(SLICE_SECONDS)
        work.step()
