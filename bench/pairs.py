"""Compares the API of this checkout with that of another one: `python -m bench.pairs FOLDER [--pairs 8]`.

Both APIs run on one database, without workers, and get the same load in turns, in pairs whose order alternates. What
counts is the processor time of the API's processes for each request, which other work on the machine changes least.
Prints the medians of both, and of the ratios of the pairs.
"""

import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import click
import psutil

from bench.load import single_sends
from bench.stand import SENDER, TEXT, Stand
from bulksms.local import services
from bulksms.local.command import Command
from bulksms.local.ports import free_port

BULK_PHONES = 10_000


class Cost(NamedTuple):
    """Of one run: processor time of the API in microseconds per request, and requests a second."""

    micros: float
    rate: float


def processor_seconds(api: Command) -> float:
    """User and system time of a running API's processes so far."""
    root = psutil.Process(api.pid)
    return sum(sum(each.cpu_times()[:2]) for each in (root, *root.children(recursive=True)))


def single(stand: Stand, clients: int, seconds: float) -> tuple[int, float]:
    """Single sends: how many were accepted, and in how many seconds."""
    result = single_sends(stand, clients, seconds)
    if result.errors:
        raise click.ClickException(f"{result.errors} of the single sends failed")
    return result.requests, result.seconds


def bulk(stand: Stand, count: int) -> tuple[int, float]:
    """Bulk sends, one after the other."""
    begun = time.monotonic()
    for _ in range(count):
        body = {"sender_id": SENDER, "phones": [str(each) for each in stand.phones(BULK_PHONES)], "message": TEXT}
        stand.post("/sms/send-bulk", json.dumps(body).encode())
    return count, time.monotonic() - begun


@click.command()
@click.argument("other", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--pairs", type=click.IntRange(1, 99), default=8, show_default=True)
@click.option("--seconds", type=click.FloatRange(1, 60), default=6.0, show_default=True, help="Of each run.")
def main(other: Path, pairs: int, seconds: float) -> None:
    """Compare the API of this checkout with that of OTHER, which may use the same virtual environment."""
    loads: dict[str, Callable[[Stand], tuple[int, float]]] = {
        "16 clients": lambda stand: single(stand, 16, seconds),
        "64 clients": lambda stand: single(stand, 64, seconds),
        f"bulk sends of {BULK_PHONES:,}": lambda stand: bulk(stand, 12),
    }
    with Stand(receipts=False, workers=0) as stand:
        apis = {"other": (_api(stand, other), stand.port), "this": (_api(stand, Path.cwd()), stand.port)}
        try:
            for name, load in loads.items():
                _compare(stand, apis, name, load, pairs)
        finally:
            for api, _ in apis.values():
                api.stop()


def _api(stand: Stand, folder: Path) -> Command:
    """The API of a checkout, on a port that becomes the stand's."""
    stand.port = free_port()
    env = {**stand.env, "PYTHONPATH": str(folder), "PROMETHEUS_MULTIPROC_DIR": str(stand.folder / str(stand.port))}
    logs = stand.folder / f"logs-{stand.port}"
    logs.mkdir()
    api = services.api(stand.port, env, logs, folder)
    api.launch()
    api.wait_ready(60)
    return api


def _compare(
    stand: Stand,
    apis: dict[str, tuple[Command, int]],
    name: str,
    load: Callable[[Stand], tuple[int, float]],
    pairs: int,
) -> None:
    """Run pairs of one load, and print what they cost."""
    costs: dict[str, list[Cost]] = {each: [] for each in apis}
    for number in range(-1, pairs):  # the first pair warms up
        for each in sorted(apis, reverse=bool(number % 2)):
            api, stand.port = apis[each]
            before = processor_seconds(api)
            requests, took = load(stand)
            if number >= 0:
                costs[each].append(Cost(1e6 * (processor_seconds(api) - before) / requests, requests / took))
    for each, of_each in costs.items():
        micros, rate = (statistics.median(column) for column in zip(*of_each, strict=True))
        print(f"{name:24} {each:6} {micros:10,.0f} us/request {rate:10,.1f} requests/s", flush=True)
    pairs_ = zip(costs["this"], costs["other"], strict=True)
    cpu, rates = zip(*((this.micros / before.micros, this.rate / before.rate) for this, before in pairs_), strict=True)
    print(
        f"{name:24} ratio  processor time {statistics.median(cpu):.3f} ({min(cpu):.3f} to {max(cpu):.3f}),"
        f" rate {statistics.median(rates):.3f} ({min(rates):.3f} to {max(rates):.3f})",
        flush=True,
    )


if __name__ == "__main__":
    main()
