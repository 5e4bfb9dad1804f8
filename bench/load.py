"""Many clients that each send one message after another: `wrk` if it is installed, else an asyncio client."""

import asyncio
import json
import shutil
import subprocess
import time
from pathlib import Path
from typing import NamedTuple

from bench.stand import SENDER, TEXT, Stand
from bulksms.local.ports import LOOPBACK

SCRIPT = Path(__file__).with_name("single.lua")
MAX_PHONES = 1_000_000
"""Phones reserved for one run."""
SUSTAINED = 45
"""Seconds to run for a sustained rate: long enough for writes that the file system defers to catch up."""


class LoadResult(NamedTuple):
    """The totals of all clients. Latencies are in milliseconds."""

    requests: int
    errors: int
    seconds: float
    p50: float
    p99: float

    def figures(self, what: str = "accepted/s") -> dict[str, float]:
        """The figures of a case."""
        figures = {what: self.requests / self.seconds, "p50 ms": self.p50, "p99 ms": self.p99}
        return figures | ({"errors": self.errors} if self.errors else {})


def kind() -> str:
    """The name of the client that is used."""
    return "wrk" if shutil.which("wrk") else "asyncio client"


def single_sends(stand: Stand, clients: int, seconds: float, port: int = 0) -> LoadResult:
    """Send single messages for `seconds`, each to a new phone. A `port` replaces that of the stand's API."""
    first = stand.phones(MAX_PHONES).start
    target = (port or stand.port, stand.token, first)
    return (
        _wrk(*target, clients, seconds)
        if shutil.which("wrk")
        else asyncio.run(_asyncio_clients(*target, clients, seconds))
    )


def _wrk(port: int, token: str, first: int, clients: int, seconds: float) -> LoadResult:
    url = f"http://{LOOPBACK}:{port}/api/v1/sms/send"
    command = ["wrk", "-t1", f"-c{clients}", f"-d{seconds:g}s", "--timeout", "30s", "-s", str(SCRIPT), url]
    arguments = [token, SENDER, TEXT, str(first)]
    completed = subprocess.run([*command, "--", *arguments], capture_output=True, text=True, check=True)
    return LoadResult(**json.loads(completed.stdout[completed.stdout.rindex("{") :]))


async def _asyncio_clients(port: int, token: str, first: int, clients: int, seconds: float) -> LoadResult:
    """Run the asyncio client: one connection per client, each with one request at a time."""
    latencies: list[float] = []
    errors = 0
    phones = iter(range(first, first + MAX_PHONES))
    begun = time.monotonic()

    async def client() -> None:
        nonlocal errors
        reader, writer = await asyncio.open_connection(LOOPBACK, port)
        while (at := time.monotonic()) < begun + seconds:
            writer.write(_request(port, token, next(phones)))
            head = await reader.readuntil(b"\r\n\r\n")
            size = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
            await reader.readexactly(size)
            latencies.append((time.monotonic() - at) * 1000)
            errors += b" 200 " not in head[:20]
        writer.close()

    await asyncio.gather(*(client() for _ in range(clients)))
    took = time.monotonic() - begun
    latencies.sort()
    at_99 = latencies[min(len(latencies) - 1, len(latencies) * 99 // 100)]
    return LoadResult(len(latencies) - errors, errors, took, latencies[len(latencies) // 2], at_99)


async def paced_sends(stand: Stand, rate: int, seconds: float) -> LoadResult:
    """Send single messages at a steady rate, each on a connection of its own, for `seconds`.

    A latency begins when its request is due, however long the ones before it take.
    """
    latencies: list[float] = []
    errors = 0
    begun = time.monotonic()

    async def send(phone: int, due: float) -> None:
        nonlocal errors
        await asyncio.sleep(max(0.0, due - time.monotonic()))
        reader, writer = await asyncio.open_connection(LOOPBACK, stand.port)
        writer.write(_request(stand.port, stand.token, phone))
        errors += b" 200 " not in (await reader.readuntil(b"\r\n\r\n"))[:20]
        latencies.append((time.monotonic() - due) * 1000)
        writer.close()

    phones = stand.phones(round(rate * seconds))
    await asyncio.gather(*(send(phone, begun + number / rate) for number, phone in enumerate(phones)))
    took = time.monotonic() - begun
    latencies.sort()
    at_99 = latencies[min(len(latencies) - 1, len(latencies) * 99 // 100)]
    return LoadResult(len(latencies) - errors, errors, took, latencies[len(latencies) // 2], at_99)


def _request(port: int, token: str, phone: int) -> bytes:
    body = json.dumps({"sender_id": SENDER, "phone": str(phone), "message": TEXT})
    head = f"POST /api/v1/sms/send HTTP/1.1\r\nHost: {LOOPBACK}:{port}\r\nAuthorization: Bearer {token}\r\n"
    return f"{head}Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode()
