"""What the victim felt of an attack, and what of that it should not have."""

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.hostile.achieved import Late
from tests.hostile.scenarios import Scenario
from tests.hostile.victim import Request, accepted

LIMIT = 0.1
OTHERS = 3.0
"""Seconds within which every other request and page of the victim is answered."""
HANDED_OVER = 1.0
TOLD = 3.0
"""Seconds from the acceptance of a message until the victim's webhook gets its `message.sent`."""
MEMORY, MEMORY_BACK = 2.0, 1.25
"""Times as much as before, during the attack and at the end."""
RECOVERY = 5.0
SHOWN_OF_BODY = 300
"""Characters of the response to a request that was refused."""


@dataclass(slots=True)
class Felt:
    """What the victim felt of one attack. Seconds, and bytes of all processes of the service together."""

    scenario: Scenario
    quiet: list[Request]
    during: list[Request]
    after: list[Request]
    delays: list[float] = field(default_factory=list)
    """From the acceptance of each message until the carrier had it."""
    group_delays: list[float] = field(default_factory=list)
    """From the acceptance of each group send until the carrier had all of it; NaN where it never had."""
    webhook_delays: list[float] = field(default_factory=list)
    """From the acceptance of each message until the webhook got its event."""
    memory: tuple[int, int, int] = (0, 0, 0)
    """Before the attack, at most during it, and at the end."""
    grown: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Before the attack and at the end, by process."""
    recovery: float = 0.0
    """From the end of the attack to the victim's last request that was refused or slow."""
    did: Counter[str] = field(default_factory=Counter)
    """What the attacker did, and what came back."""
    late: Late | None = None
    achieved: list[str] = field(default_factory=list)
    """What it must not have achieved."""

    @property
    def refused(self) -> list[Request]:
        """The victim's requests that were not answered 200."""
        return [request for request in self.during + self.after if request.status != 200]

    @property
    def accepted(self) -> int:
        """The number of messages that were accepted during the attack and after it."""
        return len(accepted(self.during + self.after))

    @property
    def slowest_page(self) -> float:
        """Seconds until the slowest page of the console came; NaN where there was none."""
        return max((request.seconds for request in self.during if request.what == "page"), default=math.nan)

    @property
    def slowest_other(self) -> tuple[float, str]:
        """Seconds that the slowest request took which is neither a single send nor a page, and what it was."""
        others = [(request.seconds, request.what) for request in self.during if request.what not in ("send", "page")]
        return max(others, default=(math.nan, ""))


def seconds_of(requests: list[Request], share: float) -> float:
    """The seconds within which that share of the single sends was answered; NaN where there are none."""
    took = sorted(each.seconds for each in requests if each.what == "send")
    return took[min(len(took) - 1, int(len(took) * share))] if took else math.nan


def slow(quiet: list[Request]) -> float:
    """Seconds from which on a single send is slow: 100 ms, or three times the p99 of a quiet time."""
    p99 = seconds_of(quiet, 0.99)
    return LIMIT if math.isnan(p99) else max(LIMIT, 3 * p99)


def recovery(quiet: list[Request], requests: list[Request], end: float) -> float:
    """Seconds from the end of the attack to the end of the last request that was refused or slow."""
    most = slow(quiet)
    bad = [
        each.due + each.seconds - end
        for each in requests
        if each.status != 200 or each.seconds > (most if each.what == "send" else OTHERS)
    ]
    return max([0.0, *bad])


def not_handed_over(felt: Felt) -> Iterator[str]:
    """Messages that the carrier or the webhook did not get; however long they take."""
    if len(felt.delays) != felt.accepted:
        yield f"{felt.accepted} messages were accepted, and {len(felt.delays)} handed over"
    if any(map(math.isnan, felt.group_delays)):
        yield f"not all of {len(felt.group_delays)} group sends were handed over"
    if len(felt.webhook_delays) != felt.accepted:
        yield f"{felt.accepted} messages were accepted, and the webhook was told of {len(felt.webhook_delays)}"


def problems(felt: Felt) -> Iterator[str]:
    """What the victim should not have felt, and an attack that was none."""
    p99, most = seconds_of(felt.during, 0.99), slow(felt.quiet)
    if not p99 < most:
        yield f"p99 of {1000 * p99:.0f} ms, not under {1000 * most:.0f}"
    if not felt.slowest_page < OTHERS:
        yield f"a page of the console came after {felt.slowest_page:.1f} s"
    if felt.slowest_other[0] >= OTHERS:
        yield f"a request ({felt.slowest_other[1]}) was answered after {felt.slowest_other[0]:.1f} s"
    if felt.refused:
        refusals = [(request.what, request.status, str(request.body)[:SHOWN_OF_BODY]) for request in felt.refused[:3]]
        yield f"{len(felt.refused)} requests refused or lost, such as {refusals}"
    yield from not_handed_over(felt)
    if not max(felt.delays, default=math.nan) < HANDED_OVER:
        yield f"a message was handed over after {max(felt.delays, default=math.nan):.1f} s"
    if not all(delay < HANDED_OVER for delay in felt.group_delays):
        yield f"group sends were handed over after {', '.join(f'{delay:.1f}' for delay in felt.group_delays)} s"
    if not max(felt.webhook_delays, default=math.nan) < TOLD:
        yield f"the webhook was told of a message after {max(felt.webhook_delays, default=math.nan):.1f} s"
    before, at_most, after = felt.memory
    if at_most > MEMORY * before:
        yield f"memory of {before >> 20} MB became {at_most >> 20}"
    if after > MEMORY_BACK * before:
        by_process = ", ".join(f"{name} {a >> 20} to {b >> 20}" for name, (a, b) in felt.grown.items())
        yield f"memory of {before >> 20} MB was {after >> 20} at the end: {by_process}"
    if felt.recovery > RECOVERY:
        yield f"slow for {felt.recovery:.1f} s after the end"
    yield from felt.achieved
    yield from felt.scenario.no_attack(felt.did)
