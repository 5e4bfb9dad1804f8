"""Many open pages of the console, each refreshing its live part as htmx does: `python -m bench.open_pages`.

Reads JSON from its standard input: the console's `port`, and the `pages` as pairs of a cookie and the path of a live
part. Goes on until its standard input is closed, and then prints what came back as JSON.
"""

import asyncio
import contextlib
import http.client
import json
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from bench.browser import next_look
from bulksms.local.ports import LOOPBACK
from shared.priority import lower_priority

NICENESS = 10
"""Browsers are other people's machines, and should take little of this one's."""
FIRST_SECONDS = 6.0
"""The seconds within which the pages are opened."""


@dataclass(slots=True)
class Polled:
    """What came back: how many responses of each status, and the milliseconds until the first byte of each."""

    statuses: dict[str, int] = field(default_factory=Counter)
    first_bytes: list[float] = field(default_factory=list)


async def keep_open(port: int, cookie: str, path: str, polled: Polled) -> None:
    """One open page. It polls again when its last response says so."""
    await asyncio.sleep(random.uniform(0, FIRST_SECONDS))
    reader, writer = await asyncio.open_connection(LOOPBACK, port)
    poll: tuple[str, int] | None = (path, 0)
    try:
        while poll is not None:
            await asyncio.sleep(poll[1])
            begun = time.perf_counter()
            head = f"GET {poll[0]} HTTP/1.1\r\nHost: {LOOPBACK}:{port}\r\nCookie: {cookie}\r\nHX-Request: true\r\n\r\n"
            writer.write(head.encode())
            response = await reader.readuntil(b"\r\n\r\n")
            polled.first_bytes.append((time.perf_counter() - begun) * 1000)
            status, _, _ = response[9:].partition(b" ")
            polled.statuses[status.decode()] += 1
            length = int(response.lower().partition(b"content-length:")[2].partition(b"\r\n")[0] or 0)
            page = (await reader.readexactly(length)).decode()
            if int(status) < http.HTTPStatus.BAD_REQUEST:
                poll = next_look(page)
    finally:
        writer.close()


async def run(port: int, pages: list[tuple[str, str]]) -> Polled:
    """Keep the pages open until standard input is closed."""
    polled = Polled()
    over = asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    opened = [asyncio.create_task(keep_open(port, cookie, path, polled)) for cookie, path in pages]
    await over
    for each in opened:
        each.cancel()
    for ended in await asyncio.gather(*opened, return_exceptions=True):
        if isinstance(ended, Exception):
            polled.statuses[type(ended).__name__] = polled.statuses.get(type(ended).__name__, 0) + 1
    return polled


@contextlib.contextmanager
def open_pages(port: int, pages: list[tuple[str, str]], polled: Polled) -> Iterator[None]:
    """Keep the pages open during the block, in a process of its own. `polled` gets what came back."""
    command = [sys.executable, "-m", "bench.open_pages"]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    assert process.stdin is not None
    try:
        process.stdin.write(json.dumps({"port": port, "pages": pages}) + "\n")
        process.stdin.flush()
        time.sleep(FIRST_SECONDS)
        yield
        report: dict[str, Any] = json.loads(process.communicate(timeout=30)[0])
        polled.statuses, polled.first_bytes = report["statuses"], report["first_bytes"]
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()


def main() -> None:
    """Open the pages, then report."""
    lower_priority(NICENESS)
    polled = asyncio.run(run(**json.loads(sys.stdin.readline())))
    print(json.dumps({"statuses": polled.statuses, "first_bytes": polled.first_bytes}), flush=True)


if __name__ == "__main__":
    main()
