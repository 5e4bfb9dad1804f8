"""Single sends of 64 clients, alone and during a bulk send: how much one slows the other."""

import time
from concurrent.futures import ThreadPoolExecutor

from bench.load import kind, single_sends
from bench.measure import MESSAGES, bulk_bodies, conclude, ends, measured, send_bulk
from bench.result import Result
from bench.stand import Stand

CLIENTS, BULK = 64, 100_000


def run(result: Result) -> None:
    """Measure both, with one account."""
    result.load = kind()
    seconds = 5 if result.short else 20
    with Stand(receipts=False) as stand:
        single_sends(stand, 16, 1)
        cases = (
            measured(stand, name, lambda: mixed(stand, seconds, phones))  # noqa: B023 - called before the next case
            for name, phones in ((f"{CLIENTS} clients alone", 0), (f"{CLIENTS} clients while 1 x {BULK:,} runs", BULK))
        )
        conclude(result, stand, cases)


def mixed(stand: Stand, seconds: float, phones: int) -> dict[str, float]:
    """Post the bulk send, if any, then send single messages for `seconds`, and wait for the end of all."""
    bodies = bulk_bodies(stand, 1, phones) if phones else []
    before, begun = stand.accepted(), time.monotonic()
    with ThreadPoolExecutor(1) as pool:
        accepted = pool.submit(send_bulk, stand, bodies)
        responses = single_sends(stand, CLIENTS, seconds)
        accept = accepted.result()
    stand.settle()
    messages = stand.accepted() - before
    extra = {"bulk accept s": accept} if phones else {}
    return {MESSAGES: messages, **responses.figures(), **extra, **ends(stand, begun, messages)}
