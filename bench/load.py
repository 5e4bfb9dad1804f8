"""Many clients that each send one message after the other: `wrk` where it is installed, else a client of our own."""

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
MOST = 1_000_000
"""Phones that are put aside for one run."""
SUSTAINED = 45
"""Seconds of a rate that can be kept: what a store leaves to the file system for later, comes due within them."""


class Answers(NamedTuple):
    """What the clients got. Latencies are in milliseconds."""

    requests: int
    errors: int
    seconds: float
    p50: float
    p99: float

    def figures(self, what: str = "accepted/s") -> dict[str, float]:
        """As figures of a result."""
        found = {what: self.requests / self.seconds, "p50 ms": self.p50, "p99 ms": self.p99}
        return found | ({"errors": self.errors} if self.errors else {})


def kind() -> str:
    """Which client is used."""
    return "wrk" if shutil.which("wrk") else "asyncio client"


def single_sends(stand: Stand, clients: int, seconds: float, port: int = 0) -> Answers:
    """Send single messages for so long, each to another phone. `port` is another server's than the stand's API."""
    first = stand.phones(MOST).start
    target = (port or stand.port, stand.token, first)
    return _wrk(*target, clients, seconds) if shutil.which("wrk") else asyncio.run(_own(*target, clients, seconds))


def _wrk(port: int, token: str, first: int, clients: int, seconds: float) -> Answers:
    url = f"http://{LOOPBACK}:{port}/api/v1/sms/send"
    command = ["wrk", "-t1", f"-c{clients}", f"-d{seconds:g}s", "--timeout", "30s", "-s", str(SCRIPT), url]
    told = [token, SENDER, TEXT, str(first)]
    done = subprocess.run([*command, "--", *told], capture_output=True, text=True, check=True)
    return Answers(**json.loads(done.stdout[done.stdout.rindex("{") :]))


async def _own(port: int, token: str, first: int, clients: int, seconds: float) -> Answers:
    """The same over as many connections, each with one request at a time."""
    latencies: list[float] = []
    errors = 0
    phones = iter(range(first, first + MOST))
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
    return Answers(len(latencies) - errors, errors, took, latencies[len(latencies) // 2], at_99)


def _request(port: int, token: str, phone: int) -> bytes:
    body = json.dumps({"sender_id": SENDER, "phone": str(phone), "message": TEXT})
    head = f"POST /api/v1/sms/send HTTP/1.1\r\nHost: {LOOPBACK}:{port}\r\nAuthorization: Bearer {token}\r\n"
    return f"{head}Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode()
