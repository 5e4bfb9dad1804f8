"""Single sends of one account: 1, 16 and 64 clients, each with one request at a time."""

import time

from bench.load import SUSTAINED, kind, single_sends
from bench.measure import MESSAGES, conclude, ends, measured
from bench.result import Result
from bench.stand import Stand


def run(result: Result) -> None:
    """Measure without and with receipts. The case of 64 clients runs longest, and counts fsyncs."""
    result.load = kind()
    cases = ((1, 10), (16, 10), (64, SUSTAINED))
    for receipts in (False, True):
        with Stand(receipts=receipts) as stand:
            ending = "with receipts" if receipts else "without"
            single_sends(stand, 16, 1)
            measurements = (
                measured(
                    stand,
                    f"{clients} clients, {ending}",
                    lambda: single(stand, clients, 5 if result.short else seconds),  # noqa: B023 - called before the next
                    statistics=clients == 64 and result.number == 1,
                )
                for clients, seconds in cases
            )
            conclude(result, stand, measurements)


def single(stand: Stand, clients: int, seconds: float) -> dict[str, float]:
    """Send for `seconds`, and wait for the end. Includes messages whose response wrk did not wait for."""
    before, begun = stand.accepted(), time.monotonic()
    responses = single_sends(stand, clients, seconds)
    stand.settle()
    messages = stand.accepted() - before
    end = ends(stand, begun, messages)
    return {MESSAGES: messages, **responses.figures(), **end}
