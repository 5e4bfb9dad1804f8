"""Requests to the provider, bounded in time and size: no redirects, no cookies, no proxies."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import orjson

from shared.oidc_settings import is_safe_url

if TYPE_CHECKING:
    from aiohttp import ClientSession

SECONDS = 6.0
"""For all requests of one step of a sign-in, less than the console waits."""
MAX_RESPONSE_BYTES = 256 * 1024
"""Bytes of a response."""

T = TypeVar("T")


class ProviderUnavailable(Exception):
    """The provider does not answer as it should. The text says why."""


class Response(NamedTuple):
    """A response, and the JSON object in it; an empty one if it has none."""

    status: int
    document: dict[str, Any]


def run(work: Callable[["ClientSession"], Awaitable[T]]) -> T:
    """Make requests, within SECONDS. Raises ProviderUnavailable, or RuntimeError on an event loop, which it blocks."""
    import aiohttp  # a fifth of what the API loads; few installations have a provider

    async def timed() -> T:
        session = aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar(), trust_env=False)
        async with asyncio.timeout(SECONDS), session:
            return await work(session)

    try:
        return asyncio.run(timed())
    except TimeoutError:
        raise ProviderUnavailable(f"it does not answer within {SECONDS:g} seconds") from None
    except (aiohttp.ClientError, OSError) as error:
        raise ProviderUnavailable(f"{type(error).__name__}: {error}"[:200]) from None


async def fetch(
    session: "ClientSession",
    method: str,
    url: str,
    headers: Mapping[str, str] | None = None,
    body: str | None = None,
) -> Response:
    """One request. Raises ProviderUnavailable, and what `run` translates."""
    if not is_safe_url(url):
        raise ProviderUnavailable(f"{url[:200]!r} is not an https:// URL")
    sent = {"Accept": "application/json", **(headers or {})}
    async with session.request(method, url, headers=sent, data=body, allow_redirects=False) as response:
        read = b""
        async for part in response.content.iter_any():
            read += part
            if len(read) > MAX_RESPONSE_BYTES:
                raise ProviderUnavailable(f"its response from {url} is larger than {MAX_RESPONSE_BYTES} bytes")
        if response.status >= 500 or 300 <= response.status < 400:
            raise ProviderUnavailable(f"its response from {url} was {response.status}")
        return Response(response.status, _object(read))


def _object(read: bytes) -> dict[str, Any]:
    try:
        document = orjson.loads(read)
    except ValueError:
        return {}
    return document if isinstance(document, dict) else {}
