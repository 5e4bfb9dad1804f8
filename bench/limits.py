"""Measures the limits of this machine, in the same run as the benchmarks that are compared with them."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg

from bench.bind import Bind
from bench.floors import TABLES, BarePath, Rows, copy, rows
from bench.load import kind, single_sends
from bench.measure import MESSAGES, measured
from bench.result import Case, Result
from bench.stand import Stand
from bulksms.local import services
from bulksms.local.command import Command
from bulksms.local.ports import free_port
from shared.ids import new_batch_id

SUBMITS, ROWS, PATH = "bare SMPP, window 100", "COPY, 1,000 rows a commit", "submit + COPY + commit per 1,000"
LARGE = "COPY, one commit"
BY_KEY, APPENDED, FLASK = f"{PATH}, receipts by key", f"{PATH}, receipts appended", "bare Flask, 64 clients"


def run(result: Result) -> None:
    """Measure each limit with a single process, in messages, rows or requests per second."""
    count, result.load = 100_000 if result.short else 300_000, kind()
    with Stand(receipts=True, workers=0) as stand:
        result.smsc = stand.smsc.kind
        with psycopg.connect(stand.postgres.url.replace("+psycopg", "", 1)) as connection:
            connection.execute(TABLES)
            connection.commit()
            for case in (*_submits(stand, count), *_rows(stand, connection, count), *_paths(stand, connection, count)):
                result.add(case)
        result.add(_flask(stand, 3 if result.short else 10))
        if duplicates := stand.smsc.counts()["duplicates"]:
            result.void.append(f"{duplicates:,} messages were submitted twice")


def _submits(stand: Stand, count: int) -> Iterator[Case]:
    bind = Bind(stand.smsc.port, receipts=False)
    yield _timed(stand, SUBMITS, count, lambda: bind.submit(stand.phones(count)))
    bind.close()


def _rows(stand: Stand, connection: Rows, count: int) -> Iterator[Case]:
    for name, size in ((LARGE, count), (ROWS, 1_000)):
        batches = [_lines(stand.phones(size)) for _ in range(count // size)]

        def copy_all(batches: list[str] = batches) -> None:
            for lines in batches:
                copy(connection, lines)

        yield _timed(stand, name, count, copy_all)


def _lines(phones: range) -> str:
    """The rows of one COPY, in batches of 1,000."""
    parts = (phones[first : first + 1_000] for first in range(0, len(phones), 1_000))
    return "".join("".join(rows(new_batch_id(), part, [f"{phone:010x}" for phone in part])) for part in parts)


def _paths(stand: Stand, connection: Rows, count: int) -> Iterator[Case]:
    for name, receipts in ((PATH, ""), (BY_KEY, "by key"), (APPENDED, "appended")):
        bind = Bind(stand.smsc.port, receipts=bool(receipts))
        path = BarePath(bind, connection, receipts)

        def work(path: BarePath = path) -> dict[str, float]:
            return {MESSAGES: count, **path.run(stand.phones(count))}

        yield measured(stand, name, work)
        bind.close()


def _timed(stand: Stand, name: str, count: int, work: Callable[[], object]) -> Case:
    def timed() -> dict[str, float]:
        begun = time.monotonic()
        work()
        return {MESSAGES: count, "per second": count / (time.monotonic() - begun)}

    return measured(stand, name, timed)


def _flask(stand: Stand, seconds: float) -> Case:
    """A Flask application that returns the same JSON as the API, on the same server with the same options."""
    port = free_port()
    real = services.api(port, stand.env, stand.folder, Path.cwd())
    command = [*real.command, "bench.hello:served"]
    with Command("flask", command, stand.env, stand.folder / "flask.log", Path.cwd(), real._is_ready) as server:
        server.launch()
        server.wait_ready(30)
        single_sends(stand, 16, 1, port)
        responses = single_sends(stand, 64, seconds, port)
    return Case(FLASK, responses.figures("per second"))
