"""Posts one event to an untrusted URL: only to public addresses, bounded in time and size.

A host name is resolved once per connection. Addresses that are not public are left out, and the connection goes to one
of exactly the others, the next one if it cannot be reached; TLS and the Host header use the name. Redirects are not
followed, proxy settings of the environment are ignored, cookies are not kept.
"""

import asyncio
import contextlib
import socket
import ssl
import time
from ipaddress import ip_address
from typing import Any, NamedTuple

import aiohttp
from aiohttp import AsyncResolver
from aiohttp.abc import AbstractResolver, ResolveResult
from yarl import URL

from shared.events.webhook_urls import LOOPBACK, address_problem, loopback_problem, url_problem
from shared.retry_after import retry_after

RESPONSE_SECONDS = 15.0
"""Timeout from the DNS lookup to the end of the response headers."""
OPENING_SECONDS = 5.0
"""Timeout of opening one connection, which is a part of that time."""
BODY_SECONDS = 2.0
MAX_BODY_BYTES = 65_536
"""Bytes of a response body that are read and discarded, so that the connection can be reused."""
LOOKUP_SECONDS = 3.0
"""Timeout of one DNS query; there are two tries."""
RECEIVE_BYTES = 2_048
"""Kernel receive buffer of a connection. It keeps reads small, so that an endless response cannot starve the other
posts."""
MAX_REST = 3600.0
"""The longest Retry-After that is honored, in seconds."""


class Reply(NamedTuple):
    """The result of a post. `error` is None for a success: a 2xx response in time."""

    http_status: int | None
    error: str | None
    milliseconds: int
    retry_after: float = 0.0
    """Seconds of the receiver's Retry-After; 0 without one."""


class Forbidden(OSError):
    """The name resolves only to addresses that webhooks must not use."""


class CheckedResolver(AbstractResolver):
    """Resolves a name to its public addresses, and refuses it if it has none.

    Uses no threads, so that an unresponsive name server does not delay other lookups.
    """

    def __init__(self, loopback: bool, resolver: AbstractResolver | None = None) -> None:
        self._loopback = loopback
        self._resolver = resolver or AsyncResolver(timeout=LOOKUP_SECONDS, tries=2)

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """The host's addresses that webhooks may use. Raises Forbidden if there is none."""
        addresses = await self._resolver.resolve(host, port, family)
        check = loopback_problem if self._loopback and host in LOOPBACK else address_problem
        problems = [check(ip_address(each["host"])) for each in addresses]
        usable = [each for each, problem in zip(addresses, problems, strict=True) if problem is None]
        if not usable:
            raise Forbidden(next(filter(None, problems), "The name has no address."))
        return usable

    async def close(self) -> None:
        """Cancel lookups in progress."""
        await self._resolver.close()


class Client:
    """An HTTP client with persistent connections. Create it inside the event loop that uses it."""

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
            timeout=aiohttp.ClientTimeout(total=RESPONSE_SECONDS, sock_connect=OPENING_SECONDS),
            cookie_jar=aiohttp.DummyCookieJar(),
            headers={"User-Agent": "bulksms-webhooks/1", "Accept-Encoding": "identity"},
            auto_decompress=False,
            trust_env=False,
        )

    async def close(self) -> None:
        """Close all connections, and cancel lookups."""
        await self._session.close()
        await self._resolver.close()

    async def post(self, url: str, headers: dict[str, str], body: bytes) -> Reply:
        """Post the body once. Never raises because of what the receiver does."""
        return await self._request("POST", url, headers, body)

    async def get(self, url: str, headers: dict[str, str]) -> Reply:
        """Get the URL once, as `post` does."""
        return await self._request("GET", url, headers, None)

    async def _request(self, method: str, url: str, headers: dict[str, str], body: bytes | None) -> Reply:
        began = time.monotonic()
        problem = url_problem(url, self._loopback)
        if problem is not None:
            return Reply(None, problem, 0)
        try:
            async with self._session.request(
                method, URL(url, encoded=True), data=body, headers=headers, allow_redirects=False
            ) as response:
                await self._drain(response)
                error = None if 200 <= response.status < 300 else f"The response was {response.status}."
                asks_to_wait = response.status in (429, 503)
                wait = retry_after(response.headers.get("Retry-After"), MAX_REST) if asks_to_wait else 0.0
                return Reply(response.status, error, _since(began), wait)
        except TimeoutError:
            return Reply(None, f"There was no response within {RESPONSE_SECONDS:g} seconds.", _since(began))
        except (aiohttp.ClientError, OSError, ValueError) as failure:
            return Reply(None, _describe(failure), _since(began))

    async def _drain(self, response: aiohttp.ClientResponse) -> None:
        """Read the body, so that the connection can be reused; close the connection if it is too large or slow."""
        read = 0
        with contextlib.suppress(TimeoutError, aiohttp.ClientError, OSError):
            async with asyncio.timeout(BODY_SECONDS):
                async for part in response.content.iter_any():
                    read += len(part)
                    if read > MAX_BODY_BYTES:
                        break
                else:
                    return
        response.close()

    def _socket(self, info: tuple[Any, ...]) -> socket.socket:
        """Create the socket after checking its address: the last check, however the address was obtained."""
        family, kind, proto, _, socket_address = info
        address = ip_address(socket_address[0])
        problem = address_problem(address)
        if problem is not None and not (self._loopback and loopback_problem(address) is None):
            raise Forbidden(problem)
        sock = socket.socket(family, kind, proto)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BYTES)
        return sock


def _describe(failure: Exception) -> str:
    cause = failure.__cause__ or failure
    inner = getattr(failure, "os_error", None) or cause
    return f"{type(failure).__name__}: {inner}"[:200].replace("\0", "")


def _since(began: float) -> int:
    return int((time.monotonic() - began) * 1000)
