"""1, 2 and 4 worker processes with a carrier that responds after 50 ms and has a window of 10 per bind."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from bench.measure import MESSAGES, bulk, conclude, measured
from bench.result import Case, Result
from bench.stand import Stand

ROUND_TRIP, WINDOW = 0.05, 10
LIMIT = WINDOW / ROUND_TRIP
"""The most messages per second that one bind can take."""
SENDS = 16
"""Concurrent sends per worker. A cycle gets only a share of the window, so it takes many batches to fill it."""
FIRST, LAST = 0.1, 0.9
"""The shares of the messages between which throughput is measured. At the end the cycles run out of work one after
another, the last one seconds after the first."""
SAMPLE_SECONDS = 0.1

Samples = list[tuple[float, int]]
"""Samples: monotonic seconds, and the messages that the carrier had by then."""


def run(result: Result) -> None:
    """Measure scaling. With such a slow carrier the processor is no limit: twice the workers must be twice as fast."""
    result.note = (
        f"One bind takes at most {LIMIT:g} messages/s: {WINDOW} at a time, {ROUND_TRIP * 1000:g} ms each."
        f" Carried: between {FIRST:.0%} and {LAST:.0%} of the messages."
    )
    with Stand(receipts=False, workers=1, round_trip=ROUND_TRIP, window=WINDOW) as stand:
        conclude(result, stand, _cases(stand, 100 if result.short else 500), warm=400)


def _cases(stand: Stand, phones: int) -> Iterator[Case]:
    yield _case(stand, f"1 worker, one send of {phones * 4:,}", 1, phones * 4)
    for workers in (1, 2, 4):
        stand.start_workers(workers - len(stand.workers))
        sends = SENDS * workers
        yield _case(stand, f"{workers} worker{'s'[: workers > 1]}, {sends} sends of {phones:,}", sends, phones)


def _case(stand: Stand, name: str, sends: int, phones: int) -> Case:
    with _watched(stand) as samples:
        case = measured(stand, name, lambda: bulk(stand, sends, phones, at_once=4))
    case.figures["carried/s"] = carried(samples, int(case.figures[MESSAGES]))
    case.figures["share of the limit"] = case.figures["carried/s"] / (LIMIT * len(stand.workers))
    return case


@contextmanager
def _watched(stand: Stand) -> Iterator[Samples]:
    """Sample the carrier's count of messages every tenth of a second while the block runs."""
    samples: Samples = []
    over = threading.Event()

    def sample() -> None:
        while not over.is_set():
            samples.append((time.monotonic(), stand.smsc.counts()["submits"]))
            over.wait(SAMPLE_SECONDS)

    thread = threading.Thread(target=sample, daemon=True)
    thread.start()
    try:
        yield samples
    finally:
        over.set()
        thread.join()


def carried(samples: Samples, messages: int) -> float:
    """Messages per second, without the first and the last tenth of them."""
    before = samples[0][1]
    begun = next(each for each in samples if each[1] >= before + FIRST * messages)
    ended = next(each for each in samples if each[1] >= before + LAST * messages)
    return (ended[1] - begun[1]) / (ended[0] - begun[0])
