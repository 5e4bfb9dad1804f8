"""1, 2 and 4 worker processes against a carrier that answers after 50 ms and takes 10 at a time on each bind."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from bench.measure import MESSAGES, bulk, conclude, measured
from bench.result import Case, Result
from bench.stand import Stand

ROUND_TRIP, WINDOW = 0.05, 10
LIMIT = WINDOW / ROUND_TRIP
"""Messages per second that one bind can take at most."""
SENDS = 16
"""Per worker and at once: a turn has its share of the window, so that only many batches fill it."""
FIRST, LAST = 0.1, 0.9
"""What is carried is measured between these shares of the messages. At the end of any amount of work the turns run out
of it one after the other, the last one seconds after the first."""
LOOK_SECONDS = 0.1

Seen = list[tuple[float, int]]
"""Seconds and the messages that the carrier had by then."""


def run(result: Result) -> None:
    """With so slow a carrier the processor is no limit, and twice the workers must be twice as fast."""
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
    with _watched(stand) as seen:
        case = measured(stand, name, lambda: bulk(stand, sends, phones, at_once=4))
    case.figures["carried/s"] = carried(seen, int(case.figures[MESSAGES]))
    case.figures["share of the limit"] = case.figures["carried/s"] / (LIMIT * len(stand.workers))
    return case


@contextmanager
def _watched(stand: Stand) -> Iterator[Seen]:
    """What the carrier has, each tenth of a second while the block lasts."""
    seen: Seen = []
    over = threading.Event()

    def look() -> None:
        while not over.is_set():
            seen.append((time.monotonic(), stand.smsc.counts()["submits"]))
            over.wait(LOOK_SECONDS)

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield seen
    finally:
        over.set()
        thread.join()


def carried(seen: Seen, messages: int) -> float:
    """Messages per second between the first and the last tenth of them."""
    before = seen[0][1]
    begun = next(each for each in seen if each[1] >= before + FIRST * messages)
    ended = next(each for each in seen if each[1] >= before + LAST * messages)
    return (ended[1] - begun[1]) / (ended[0] - begun[0])
