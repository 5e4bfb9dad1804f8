"""Posts one event to one address, whatever is behind it: only to a public address, bounded in time and size.

A name is resolved once for a connection, every address that it has must be a public one, and the connection goes to
one of these very addresses; TLS and the Host header keep the name. Redirects are not followed, proxies of the
environment are not used, cookies are not kept.
"""

import asyncio
import contextlib
import socket
import ssl
import time
from email.utils import parsedate_to_datetime
from ipaddress import ip_address
from typing import Any, NamedTuple

import aiohttp
from aiohttp import AsyncResolver
from aiohttp.abc import AbstractResolver, ResolveResult
from yarl import URL

from shared.events.webhook_urls import LOOPBACK, address_problem, loopback_problem, url_problem

ANSWER_SECONDS = 15.0
"""From the look-up of the name to the end of the answer's head."""
BODY_SECONDS = 2.0
MAX_BODY_BYTES = 65_536
"""Bytes of an answer's body that are read, so that its connection can be used again; nothing is made of them."""
LOOKUP_SECONDS = 3.0
"""Of one question to a name server; it is asked twice."""
RECEIVE_BYTES = 2_048
"""That the kernel keeps of an answer. Whoever sends without an end is read in pieces as small, between which the others
have their turn."""
LONGEST_REST = 3600.0


class Reply(NamedTuple):
    """What came of a post. `error` is None for a success: a 2xx in time."""

    http_status: int | None
    error: str | None
    milliseconds: int
    retry_after: float = 0.0
    """Seconds for which the receiver asks to be left alone."""


class Forbidden(OSError):
    """The name leads to an address that webhooks may not go to."""


class CheckedResolver(AbstractResolver):
    """Looks a name up, and refuses it when any of its addresses is not a public one.

    Without threads: a name server that is silent keeps nobody else's names waiting.
    """

    def __init__(self, loopback: bool, resolver: AbstractResolver | None = None) -> None:
        self._loopback = loopback
        self._resolver = resolver or AsyncResolver(timeout=LOOKUP_SECONDS, tries=2)

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """The addresses of the host, all of them checked. Raises Forbidden."""
        found = await self._resolver.resolve(host, port, family)
        ours = self._loopback and host in LOOPBACK
        for each in found:
            given = ip_address(each["host"])
            problem = loopback_problem(given) if ours else address_problem(given)
            if problem is not None:
                raise Forbidden(problem)
        return found

    async def close(self) -> None:
        """Give up the look-ups that are under way."""
        await self._resolver.close()


class Client:
    """Posts, over connections that are kept. Make it inside the loop that uses it."""

    def __init__(
        self, loopback: bool = False, resolver: AbstractResolver | None = None, tls: ssl.SSLContext | None = None
    ) -> None:
        self._loopback = loopback
        self._resolver = CheckedResolver(loopback, resolver)
        connector = aiohttp.TCPConnector(
            resolver=self._resolver,
            use_dns_cache=False,
            limit=0,
            keepalive_timeout=30,
            socket_factory=self._socket,
            ssl=tls or True,
        )
        self._session = aiohttp.ClientSession(
            connector=connector,
            timeout=aiohttp.ClientTimeout(total=ANSWER_SECONDS, sock_connect=5.0),
            cookie_jar=aiohttp.DummyCookieJar(),
            headers={"User-Agent": "bulksms-webhooks/1", "Accept-Encoding": "identity"},
            auto_decompress=False,
            trust_env=False,
        )

    async def close(self) -> None:
        """Close every connection, and give up the look-ups."""
        await self._session.close()
        await self._resolver.close()

    async def post(self, url: str, headers: dict[str, str], body: bytes) -> Reply:
        """Post the body once. Never raises for what the other side does."""
        began = time.monotonic()
        problem = url_problem(url, self._loopback)
        if problem is not None:
            return Reply(None, problem, 0)
        try:
            async with self._session.post(
                URL(url, encoded=True), data=body, headers=headers, allow_redirects=False
            ) as answer:
                await self._drain(answer)
                error = None if 200 <= answer.status < 300 else f"The answer was {answer.status}."
                wait = retry_after(answer.headers.get("Retry-After")) if answer.status in (429, 503) else 0.0
                return Reply(answer.status, error, _since(began), wait)
        except TimeoutError:
            return Reply(None, f"No answer came within {ANSWER_SECONDS:g} seconds.", _since(began))
        except (aiohttp.ClientError, OSError, ValueError) as failure:
            return Reply(None, _describe(failure), _since(began))

    async def _drain(self, answer: aiohttp.ClientResponse) -> None:
        """Read the body, so that the connection can be used again; give the connection up where it is too much."""
        read = 0
        with contextlib.suppress(TimeoutError, aiohttp.ClientError, OSError):
            async with asyncio.timeout(BODY_SECONDS):
                async for part in answer.content.iter_any():
                    read += len(part)
                    if read > MAX_BODY_BYTES:
                        break
                else:
                    return
        answer.close()

    def _socket(self, info: tuple[Any, ...]) -> socket.socket:
        """The last look: at the address that is connected to, by whatever way it came here."""
        family, kind, proto, _, address = info
        given = ip_address(address[0])
        problem = address_problem(given)
        if problem is not None and not (self._loopback and loopback_problem(given) is None):
            raise Forbidden(problem)
        made = socket.socket(family, kind, proto)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BYTES)
        return made


def _describe(failure: Exception) -> str:
    cause = failure.__cause__ or failure
    inner = getattr(failure, "os_error", None) or cause
    return f"{type(failure).__name__}: {inner}"[:200].replace("\0", "")


def _since(began: float) -> int:
    return int((time.monotonic() - began) * 1000)


def retry_after(value: str | None) -> float:
    """Seconds of a Retry-After header (RFC 9110 §10.2.3), an hour at most; 0 for what is none."""
    if value is None:
        return 0.0
    try:
        seconds = float(value) if value.isdigit() else parsedate_to_datetime(value).timestamp() - time.time()
    except (ValueError, OverflowError):
        return 0.0
    return min(LONGEST_REST, max(0.0, seconds))
