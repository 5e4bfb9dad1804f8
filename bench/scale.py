"""1, 2 and 4 worker processes against a carrier that answers after 50 ms and takes 10 at a time on each bind."""

from collections.abc import Iterator

from bench.measure import bulk, conclude, measured
from bench.result import Case, Result
from bench.stand import Stand

ROUND_TRIP, WINDOW = 0.05, 10
LIMIT = WINDOW / ROUND_TRIP
"""Messages per second that one bind can take at most."""
SENDS = 16
"""Per worker and at once: a turn has its share of the window, so that only many batches fill it."""


def run(result: Result) -> None:
    """With so slow a carrier the processor is no limit, and twice the workers must be twice as fast."""
    result.note = f"One bind takes at most {LIMIT:g} messages/s: {WINDOW} at a time, {ROUND_TRIP * 1000:g} ms each."
    with Stand(receipts=False, workers=1, round_trip=ROUND_TRIP, window=WINDOW) as stand:
        conclude(result, stand, _cases(stand, 100 if result.short else 500), warm=400)


def _cases(stand: Stand, phones: int) -> Iterator[Case]:
    yield _case(stand, f"1 worker, one send of {phones * 4:,}", 1, phones * 4)
    for workers in (1, 2, 4):
        stand.start_workers(workers - len(stand.workers))
        sends = SENDS * workers
        yield _case(stand, f"{workers} worker{'s'[: workers > 1]}, {sends} sends of {phones:,}", sends, phones)


def _case(stand: Stand, name: str, sends: int, phones: int) -> Case:
    case = measured(stand, name, lambda: bulk(stand, sends, phones, at_once=4))
    case.figures["share of the limit"] = case.figures["submitted/s"] / (LIMIT * len(stand.workers))
    return case
