"""Measures cases: runs the work, reads its cost per group of processes, and checks that the result is valid."""

import json
import sys
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor

from bench.machine import load_average
from bench.meter import busy
from bench.result import Case, Result
from bench.stand import SENDER, TEXT, Stand
from bench.statistics import counts

WARM_UP = 5_000
MESSAGES = "messages"


def measured(stand: Stand, name: str, work: Callable[[], dict[str, float]], *, statistics: bool = False) -> Case:
    """Run `work`, whose figures include the number of messages, and measure the cost per message.

    `statistics` also reads the statistics of Postgres, which takes half a minute more.
    """
    counted = [counts(stand.engine) for _ in range(2)] if statistics else []
    stand.meter.begin()
    load, cpu, worked, begun = load_average(), stand.meter.cpu(), busy(), time.monotonic()
    figures = work()
    worked, took = busy() - worked, time.monotonic() - begun
    spent = {group: value - cpu.get(group, 0.0) for group, value in stand.meter.cpu().items()}
    messages = int(figures[MESSAGES])
    others = round(max(0.0, worked - sum(spent.values())) / took, 2)
    case = Case(name, figures, rss_mib=stand.meter.peaks(), load_average=load, others=others)
    case.cpu_us = {group: round(seconds / messages * 1e6, 1) for group, seconds in spent.items()}
    if counted:
        at_rest, before = counted
        figures |= counts(stand.engine).per(messages, before, at_rest)
    return case


def bulk_bodies(stand: Stand, sends: int, phones: int) -> list[bytes]:
    """The request bodies of bulk sends, each with its own phones."""
    return [
        json.dumps({"sender_id": SENDER, "phones": list(map(str, stand.phones(phones))), "message": TEXT}).encode()
        for _ in range(sends)
    ]


def send_bulk(stand: Stand, bodies: list[bytes], at_once: int = 1) -> float:
    """Post bulk sends, `at_once` concurrently. Returns the seconds until the last was accepted."""
    begun = time.monotonic()
    with ThreadPoolExecutor(at_once) as pool:
        list(pool.map(lambda body: stand.post("/sms/send-bulk", body), bodies))
    return time.monotonic() - begun


def bulk(stand: Stand, sends: int, phones: int, at_once: int = 1) -> dict[str, float]:
    """Post bulk sends, and wait for their end. Returns seconds and messages per second since the first post."""
    bodies = bulk_bodies(stand, sends, phones)
    begun = time.monotonic()
    accept = send_bulk(stand, bodies, at_once)
    return {MESSAGES: sends * phones, "accept s": accept, **ends(stand, begun, sends * phones)}


def ends(stand: Stand, begun: float, messages: int) -> dict[str, float]:
    """Wait for the end of all messages. Returns seconds and messages per second since `begun`."""
    times = stand.finish(begun)
    rates = {f"{name}/s": messages / seconds for name, seconds in times.items()}
    return {**{f"{name} s": seconds for name, seconds in times.items()}, **rates}


def warm_up(stand: Stand, messages: int = WARM_UP) -> None:
    """Warm up every process: caches, plans, connections."""
    bulk(stand, 4, messages // 4, at_once=4)


def conclude(result: Result, stand: Stand, cases: Iterable[Case], warm: int = WARM_UP) -> None:
    """Warm up, measure the cases, and check that nothing was lost, repeated or miscounted."""
    result.smsc = stand.smsc.kind
    warm_up(stand, warm)
    for case in cases:
        result.add(case)
        print(f"  {case.name}", file=sys.stderr, flush=True)
    result.void += stand.faults()
