"""The ASGI application: finds the owner of each request, takes a share of the process for it, waits for its body, and
handles it: `POST /sms/send`, the most frequent request, on the event loop, and all others by Flask in threads.
"""

import logging
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from functools import partial
from typing import Any

from api.auth.caller import Caller
from api.auth.operator_tokens import Operator
from api.endpoint import OPERATOR_PREFIX
from api.event_loop import NeedsThread
from api.handlers import DirectEndpoint
from api.http.client_address import address_of
from api.http.json_body import LARGE_BODY, SMALL_BODY, WholeBody
from api.http.receive import (
    ClientGone,
    NoSpace,
    SpooledBody,
    TooSlow,
    UnreadBody,
    spooled_body,
    whole_body,
    whole_body_in_time,
)
from api.http.request import COMPLETE, Environ, Receive, Scope, Send, announced_length, environ_of, is_small
from api.http.responses import PendingResponse, Response
from api.http.wsgi import WholeResponse, Wsgi
from api.kannel.sendsms import BUSY, SENDSMS, known_account
from api.limits.bulkheads import (
    LARGE_OF_ACCOUNT,
    LARGE_OF_ADDRESS,
    MAX_PER_ACCOUNT,
    MAX_PER_ADDRESS,
    WORKED_ON_OF_ACCOUNT,
    Holdings,
    OperatorOwner,
    Owner,
    Permits,
    is_signed_in,
    limit_of,
)
from api.resources.carrier_callbacks.routes import MAX_BODY_BYTES as MAX_CALLBACK_BYTES
from api.resources.imports.upload import MAX_UPLOAD_BYTES
from api.server.responses import early_problem, send_whole
from api.server.thread_pools import CARRIERS, SINGLE, ThreadPools
from api.services import Services
from shared.address_block import address_block
from shared.api_key import is_within

Reply = Response | PendingResponse

THREADS = 8
"""Default of the threads of accounts and their exports. In production it is DATABASE_POOL."""
IN_MEMORY = 2 * 1024 * 1024
"""Bytes of an account's body that are kept in memory: enough for 100,000 phones. Before sign-in it is SMALL_BODY."""
HEALTH = ("/healthz", "/readyz")
"""Their shares are counted separately: a proxy may check health from the address of other requests."""
IMPORT = "/import"
"""The end of each path that takes a file, but for further slashes, which lead to the same view."""

log = logging.getLogger(__name__)


def owner_by_peer(environ: Environ) -> Owner:
    """The address of the peer."""
    return address_block(str(environ.get("REMOTE_ADDR") or ""))


class Owners:
    """Finds owners by token and address."""

    def __init__(self, services: Services) -> None:
        self._tokens, self._operator_tokens = services.tokens, services.operator_tokens
        self._known_logins = services.known_logins
        self._trusted = services.settings.trusted_proxies

    def __call__(self, environ: Environ) -> Owner:
        """The account or operator of a valid token that may be used from this address, or the account of a login that
        was right the last time; otherwise the address.

        A sandbox is an owner of its own.
        """
        if environ["PATH_INFO"] == SENDSMS:
            known = known_account(self._known_logins, environ)
            return address_block(address_of(environ, self._trusted)) if known is None else known
        tokens = self._operator_tokens if environ["PATH_INFO"].startswith(OPERATOR_PREFIX) else self._tokens
        caller = tokens.signed(environ.get("HTTP_AUTHORIZATION"))
        if caller is not None and not caller.networks:
            return _owner(caller)
        address = address_of(environ, self._trusted)
        if caller is not None and is_within(address, caller.networks):
            return _owner(caller)
        return address_block(address)


def _owner(caller: Caller | Operator) -> Owner:
    return OperatorOwner(caller.actor) if isinstance(caller, Operator) else caller.account_id


class Application:
    """A WSGI application, and one endpoint that is handled on the event loop, as an ASGI application."""

    def __init__(
        self,
        app: Wsgi,
        on_loop: DirectEndpoint | None = None,
        owner_of: Callable[[Environ], Owner] = owner_by_peer,
        threads: int = THREADS,
    ) -> None:
        """`on_loop` handles the POST requests to SINGLE. `threads` are those of accounts and their exports."""
        self._on_loop = on_loop
        self._owner_of = owner_of
        self._pools = ThreadPools(app, threads)
        self._open, self._large, self._parsed = Holdings(), Permits(), Permits()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request. Sends no response if the client has left."""
        environ = environ_of(scope, None)
        owner = self._owner_of(environ)
        if scope["path"] in HEALTH and announced_length(scope["headers"]) == 0:
            owner = f"health {owner}"
        if not self._open.acquire(owner, limit_of(owner, MAX_PER_ACCOUNT, MAX_PER_ADDRESS)):
            await send_whole(send, receive, _too_many(scope["path"]), unread=True)
            return
        try:
            if self._on_loop is not None and is_for_event_loop(scope):
                environ["wsgi.input"] = WholeBody(await _small_body(scope, receive))
                await send_whole(send, receive, await self._respond_on_loop(self._on_loop, owner, environ))
            else:
                async with self._body(owner, scope, receive) as body:
                    environ["wsgi.input"] = body
                    await self._pools.respond(owner, environ, receive, send)
        except ClientGone:
            pass
        except TooSlow:
            await self.refuse("The body did not arrive in time.", scope, receive, send)
        except NoSpace as error:
            log.error("a request's body could not be stored in a temporary file: %s", error.__cause__)
            detail = "There is no room for the body at the moment."
            await send_whole(send, receive, early_problem("unavailable", detail, scope["path"]), unread=True)
        finally:
            self._open.release(owner)

    async def refuse(self, detail: str, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a request that is not valid HTTP, for this reason."""
        await send_whole(send, receive, early_problem("bad_request", detail, scope["path"]), unread=True)

    @asynccontextmanager
    async def _body(
        self, owner: Owner, scope: Scope, receive: Receive
    ) -> AsyncIterator[WholeBody | SpooledBody | UnreadBody]:
        """The complete body of a request. Raises ClientGone, TooSlow or NoSpace."""
        length, limit = announced_length(scope["headers"]), _max_body_bytes(owner, scope["path"])
        if length is not None and length <= SMALL_BODY:
            yield WholeBody(await _small_body(scope, receive))
        elif length is not None and length > limit:
            yield UnreadBody(limit)
        else:
            async with self._large.of(owner, limit_of(owner, LARGE_OF_ACCOUNT, LARGE_OF_ADDRESS)):
                body = await spooled_body(receive, limit, limit_of(owner, IN_MEMORY, SMALL_BODY))
                try:
                    async with self._worked_on(owner, scope["path"]):
                        yield UnreadBody(limit) if body.unread() else body
                finally:
                    body.close()

    def _worked_on(self, owner: Owner, path: str) -> AbstractAsyncContextManager[None]:
        """Held while a large body is parsed and worked on. Waits until the owner may have one more."""
        return nullcontext() if path.rstrip("/").endswith(IMPORT) else self._parsed.of(owner, WORKED_ON_OF_ACCOUNT)

    async def _respond_on_loop(self, endpoint: DirectEndpoint, owner: Owner, environ: Environ) -> WholeResponse:
        """Handle a request on the loop. If that would block, start again in a thread.

        It is the same Request object, so limits count it once.
        """
        request = endpoint.request(environ)
        try:
            reply = endpoint.call(request)
            if isinstance(reply, PendingResponse):
                await reply.ready
                reply = reply.response()
        except NeedsThread:
            reply = await self._pools.single.submit(owner, partial(endpoint.call, request))
        assert isinstance(reply, Response)
        return endpoint.complete(request, reply)


def is_for_event_loop(scope: Scope) -> bool:
    """Whether the event loop handles the request."""
    return scope["path"] == SINGLE and scope["method"] == "POST" and is_small(scope["headers"], SMALL_BODY)


def _small_body(scope: Scope, receive: Receive) -> Coroutine[Any, Any, bytes]:
    """Receive a small body. One that is here needs no deadline, which would take 6 us."""
    return whole_body(receive) if COMPLETE in scope else whole_body_in_time(receive)


def _too_many(path: str) -> WholeResponse:
    if path == SENDSMS:
        return BUSY
    return early_problem("rate_limited", "Too many of your requests are in progress.", path)


def _max_body_bytes(owner: Owner, path: str) -> int:
    """The size of the largest body that is read. Endpoints may have lower limits."""
    if not is_signed_in(owner):
        return MAX_CALLBACK_BYTES if path.startswith(CARRIERS) else SMALL_BODY
    return MAX_UPLOAD_BYTES if path.rstrip("/").endswith(IMPORT) else LARGE_BODY
