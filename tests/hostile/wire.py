"""What an attacker has: connections from many addresses of this machine, and requests as bytes."""

import asyncio
import contextlib
import itertools
import json
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

ADDRESSES = tuple(f"127.0.1.{number}" for number in range(1, 101))
SERVER = "127.0.0.1"
PAUSE = 0.05
"""Seconds after a connection that could not be made, or a request that was not accepted."""
ACCEPTED_SECONDS = 120
"""Within which a request that an attack needs must be accepted."""
NOT_NOW = (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE)

READ = 65536

Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@dataclass(frozen=True, slots=True)
class Target:
    """What is attacked, and with what. `strength` is the part of the full number of connections and bytes."""

    port: int
    strength: float
    token: str
    """Of the attacker's account."""
    api_key: str
    api_secret: str
    group: str
    """Its large group."""
    webhook: str
    """Its webhook, which has had many deliveries."""
    redis_url: str
    """Of the broker, for attackers that may write there."""
    victims_key: str
    """The name of the victim's API key, which is no secret."""
    victims_email: str
    """Of a person of the victim's account."""
    console_port: int
    form: tuple[str, str]
    """The cookie and the CSRF token of a stranger at the console."""
    cookies: list[str]
    """Of people of the attacker's account, who are signed in at the console."""
    account: int
    """The attacker's."""
    operator_key: str
    """The name of an operator key."""
    operator_token: str
    """Of an operator key that may only read."""


class Wire:
    """The attacker's side of all connections.

    `counts` says what was tried and what came back: each status, the connections that the server ended, and those that
    are open (`held`).
    """

    def __init__(self, target: Target, port: int | None = None, counts: Counter[str] | None = None) -> None:
        self.target = target
        self.counts: Counter[str] = Counter() if counts is None else counts
        self._port = target.port if port is None else port
        self._addresses = itertools.cycle(ADDRESSES)

    def many(self, full: int) -> int:
        """So many of something that is `full` at full strength."""
        return max(1, round(full * self.target.strength))

    async def open(self) -> Connection:
        """A connection from the next address."""
        address = next(self._addresses)
        made = await asyncio.open_connection(SERVER, self._port, local_addr=(address, 0))
        self.counts["connections"] += 1
        return made

    def at_console(self) -> "Wire":
        """The same attacker, before the console."""
        return Wire(self.target, self.target.console_port, self.counts)

    def head(self, method: str, path: str, *headers: str, signed_in: bool = True) -> bytes:
        """The head of a request; `headers` are lines of it as they are."""
        token = [f"Authorization: Bearer {self.target.token}"] if signed_in else []
        lines = [f"{method} {path} HTTP/1.1", "Host: localhost", *token, *headers]
        return ("\r\n".join(lines) + "\r\n\r\n").encode()

    def request(
        self, method: str, path: str, body: Any = None, *headers: str, signed_in: bool = True, type: str = ""
    ) -> bytes:
        """A whole request. `body` is JSON, or bytes as they are."""
        data = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        more = (f"Content-Type: {type or 'application/json'}", f"Content-Length: {len(data)}", *headers)
        return self.head(method, f"/api/v1{path}", *more, signed_in=signed_in) + data

    def page(self, path: str, cookie: str, *headers: str) -> bytes:
        """A whole request for a page of the console."""
        return self.head("GET", path, f"Cookie: {cookie}", *headers, signed_in=False)

    def operator_request(self, method: str, path: str, body: Any = None, *, token: str) -> bytes:
        """A whole request to the operator API."""
        data = b"" if body is None else json.dumps(body).encode()
        more = [f"Authorization: Bearer {token}"] if token else []
        length = ("Content-Type: application/json", f"Content-Length: {len(data)}")
        return self.head(method, f"/operator/v1{path}", *more, *length, signed_in=False) + data

    async def ask(self, connection: Connection, data: bytes) -> tuple[int, bytes]:
        """Send a request and read all of its response."""
        reader, writer = connection
        writer.write(data)
        self.counts["requests"] += 1
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        status, length = int(head[9:12]), head.partition(b"content-length:")[2].partition(b"\r\n")[0]
        self.counts[str(status)] += 1
        if length:
            return status, await reader.readexactly(int(length))
        body = b""
        while size := int(await reader.readline(), 16):
            body += (await reader.readexactly(size + 2))[:-2]
        await reader.readline()
        return status, body

    async def json(self, method: str, path: str, body: Any = None) -> Any:
        """The JSON of a request's response, each time on a connection of its own, until it is accepted.

        Raises RuntimeError if it is not accepted within ACCEPTED_SECONDS.
        """
        try:
            async with asyncio.timeout(ACCEPTED_SECONDS):
                while True:
                    with contextlib.suppress(OSError, asyncio.IncompleteReadError):
                        status, response = await self._ask_once(self.request(method, path, body))
                        if status not in NOT_NOW:
                            return json.loads(response)
                    await asyncio.sleep(PAUSE)
        except TimeoutError as error:
            raise RuntimeError(f"{method} {path} was not accepted within {ACCEPTED_SECONDS} s") from error

    async def _ask_once(self, data: bytes) -> tuple[int, bytes]:
        """Ask on a connection of its own."""
        connection = await self.open()
        try:
            return await self.ask(connection, data)
        finally:
            connection[1].close()

    async def repeat(self, make: Callable[[], bytes]) -> None:
        """Ask again and again, without a pause; `make` makes each request."""

        async def use(connection: Connection) -> None:
            while True:
                await self.ask(connection, make())

        await self.reopen(use)

    async def reopen(self, use: Callable[[Connection], Awaitable[None]]) -> None:
        """Use a connection, and a new one whenever the server has ended it."""
        while True:
            writer = None
            try:
                connection = await self.open()
                writer = connection[1]
                self.counts["held"] += 1
                await use(connection)
                self.counts["ended"] += 1
            except (OSError, asyncio.IncompleteReadError, ValueError):
                self.counts["ended"] += 1
                await asyncio.sleep(PAUSE)
            finally:
                if writer is not None:
                    self.counts["held"] -= 1
                    writer.close()

    async def read(self, connection: Connection, size: int, seconds: float = 0.0) -> None:
        """Read `size` bytes at a time and throw them away, with a pause after each, until the server ends it."""
        begin = await connection[0].read(size)
        if begin.startswith(b"HTTP/1.1 "):
            self.counts[begin[9:12].decode()] += 1
        while begin:
            await asyncio.sleep(seconds)
            begin = await connection[0].read(size)

    async def together(self, *attacks: Coroutine[Any, Any, None]) -> None:
        """All of them at the same time."""
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.gather(*attacks)
