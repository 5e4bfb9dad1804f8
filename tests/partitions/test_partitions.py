"""Every link between two hosts is cut under load, in both directions and in each: `make partitions`.

`make test ALL=1` cuts one of two workers off from Postgres, in both directions.
"""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.faults.ground import Fault
from tests.harness.house import wait_until
from tests.partitions.hosts import SECOND, WINDOW, Hosts
from tests.partitions.network import Network

pytestmark = pytest.mark.slow
HOLD = 15.0
"""Seconds for which a link is cut: longer than a lease (8 s), and than both sides wait for each other (10 s). It stays
so until what an operator should see is seen, and what should go on has gone on."""
BOUND = 60.0
"""Seconds after which everything is as before."""
WORKERS = 2


class Link(NamedTuple):
    """Two hosts that talk to each other."""

    one: str
    other: str
    second: bool = False
    """Whether one of the two workers is on another host, which keeps all its links."""

    @property
    def ways(self) -> dict[str, list[tuple[str, str]]]:
        """What is cut, one after the other: the directions by name."""
        there, back = (self.one, self.other), (self.other, self.one)
        return {
            "both ways": [there, back],
            f"{self.one} to {self.other}": [there],
            f"{self.other} to {self.one}": [back],
        }

    @property
    def doubts(self) -> int:
        """Messages that one cut may leave in doubt: for each worker that is cut off a window, and the beginning of the
        next one, which is submitted after the first got no response and before the bind is given up."""
        stops = self.one == "worker" and self.other != "redis"
        return stops * 2 * WINDOW * (WORKERS - self.second)

    @property
    def name(self) -> str:
        """The two hosts, and whether another worker keeps its links."""
        return f"{self.one}-{self.other}{'-of-two' if self.second else ''}"


LINKS = [
    Link("api", "postgres"),
    Link("api", "redis"),
    *(Link("worker", other, second) for other in ("postgres", "redis", "carrier") for second in (False, True)),
]
SILENT = [("api", "worker"), ("api", "carrier"), ("postgres", "redis"), ("postgres", "carrier"), ("redis", "carrier")]
"""Hosts that do not talk to each other."""
SHORT = Link("worker", "postgres", second=True)


@pytest.fixture
def link() -> Link | None:
    """The link that is cut; a test that cuts one overrides this by `parametrize`."""
    return None


@pytest.fixture
def hosts(network: Network, tmp_path: Path, link: Link | None) -> Iterator[Hosts]:
    """The service on its hosts."""
    made = Hosts(tmp_path, network)
    try:
        made.start_api()
        made.start_workers(1)
        made.launch_worker(SECOND if link is not None and link.second else "worker")
        wait_until(lambda: made.bound() == WORKERS, 90, "the binds")
        yield made
    finally:
        made.stop()


@pytest.mark.partitions
@pytest.mark.parametrize("link", LINKS, ids=lambda link: link.name)
def test_a_link_is_cut(hosts: Hosts, link: Link) -> None:
    fault = Fault(hosts)
    for number, cuts in enumerate(link.ways.values(), start=1):
        check_cut(fault, link, cuts, in_doubt=number * link.doubts)


@pytest.mark.parametrize("link", [SHORT], ids=lambda link: link.name)
def test_a_worker_is_cut_off_from_postgres(hosts: Hosts, link: Link) -> None:
    cuts = next(iter(link.ways.values()))
    check_cut(Fault(hosts), link, cuts, in_doubt=link.doubts)


@pytest.mark.partitions
def test_links_that_are_not_used_are_cut(hosts: Hosts) -> None:
    cuts = [*SILENT, *((other, one) for one, other in SILENT)]
    check_cut(Fault(hosts), None, cuts, in_doubt=0)


def check_cut(fault: Fault, link: Link | None, cuts: list[tuple[str, str]], in_doubt: int) -> None:
    """Cut under load, for HOLD seconds or longer. Nothing accepted is lost or given to the carrier twice, at most so
    many messages are in doubt, an operator sees what is cut, and all recovers without a restart."""
    hosts = fault.house
    assert isinstance(hosts, Hosts)
    fault.receipts_are_over = lambda: not hosts.receipts_waiting()
    processes, is_seen = hosts.processes(), sign(hosts, link)
    goes_on = link is None or link.second or link.other == "redis"
    least = WORKERS * WINDOW if goes_on else -1
    with fault.workload():
        requested, given = len(fault.traffic.wanted), sum(hosts.at_carrier().values())
        for source, target in cuts:
            hosts.network.cut(source, target)
        began, seen, sent = time.monotonic(), link is None, 0
        while time.monotonic() < began + HOLD or (not (seen and sent > least) and time.monotonic() < began + BOUND):
            seen = seen or is_seen()
            time.sleep(0.2)
            if time.monotonic() > began + HOLD:
                sent = sum(hosts.at_carrier().values()) - given
        for source, target in cuts:
            hosts.network.heal(source, target)
        wait_until(lambda: hosts.bound() == WORKERS, BOUND, "the carrier in every worker")
    tries = [each for wanted in fault.traffic.wanted[requested:] for each in wanted.tries]
    fault.check(in_doubt=in_doubt, recovery=BOUND)
    assert hosts.processes() == processes, "something was started again"
    assert seen
    if link != Link("api", "postgres"):
        assert {each.status for each in tries} == {200}
    assert sent > least, "sending does not go on"


def sign(hosts: Hosts, link: Link | None) -> Callable[[], bool]:
    """Whether an operator sees that the link is cut: in what the API or the workers report, or a host's metrics."""
    if link is None:
        return lambda: False
    if link.other == "carrier":
        return lambda: hosts.bound() < WORKERS
    if link == Link("api", "postgres"):
        return lambda: not hosts.is_ready()
    before = hosts.failures(link.one, link.other)
    return lambda: hosts.failures(link.one, link.other) > before
