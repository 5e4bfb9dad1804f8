"""1, 2 and 4 worker processes against a carrier that answers after 50 ms and takes 10 at a time on each bind."""

from bench.measure import bulk, conclude, measured
from bench.result import Case, Result
from bench.stand import Stand

ROUND_TRIP, WINDOW = 0.05, 10
LIMIT = WINDOW / ROUND_TRIP
"""Messages per second that one bind can take at most."""


def run(result: Result) -> None:
    """With so slow a carrier the processor is no limit, and twice the workers must be twice as fast."""
    result.note = f"One bind takes at most {LIMIT:g} messages/s: {WINDOW} at a time, {ROUND_TRIP * 1000:g} ms each."
    seconds = 8 if result.short else 30
    with Stand(receipts=False, workers=1, round_trip=ROUND_TRIP, window=WINDOW) as stand:
        conclude(result, stand, (_case(stand, workers, seconds) for workers in (1, 2, 4)), warm=400)


def _case(stand: Stand, workers: int, seconds: float) -> Case:
    stand.start_workers(workers - len(stand.workers))
    phones = int(LIMIT * workers * seconds)
    case = measured(stand, f"{workers} workers", lambda: bulk(stand, 1, phones))
    case.figures["share of the limit"] = case.figures["submitted/s"] / (LIMIT * workers)
    return case
