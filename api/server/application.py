"""The ASGI application: Flask in threads, and `POST /sms/send`, the most frequent request, on the event loop.

The loop waits for bodies and writes long responses, so a request holds a thread only while it is worked on.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, MutableMapping
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, NamedTuple

from api.endpoint import PREFIX, DirectEndpoint
from api.event_loop import NeedsThread
from api.http.json_body import LARGE_BODY, SMALL_BODY
from api.http.receive import (
    Gone,
    Receive,
    Spooled,
    TooSlow,
    Unread,
    Whole,
    announced_length,
    is_small,
    spooled_body,
    whole_body,
)
from api.http.request import Environ, environ_of
from api.http.responses import PendingResponse, Response
from api.http.wsgi import CANCELLATION, StreamedResponse, WholeResponse, Wsgi, call
from api.limits.bulkheads import (
    CARRIER_THREADS,
    EXPORT_THREADS,
    EXPORTS_OF_ACCOUNT,
    LARGE_OF_ACCOUNT,
    LARGE_OF_ADDRESS,
    MAX_DELAYED,
    MAX_PER_ACCOUNT,
    MAX_PER_ADDRESS,
    MAX_UNREAD_BYTES,
    OIDC_THREADS,
    PASSWORD_NICENESS,
    PASSWORD_THREADS,
    SIGN_IN_THREADS,
    SINGLE_THREADS,
    WORKED_ON_OF_ACCOUNT,
    Lane,
    Owner,
    Permits,
    Share,
    is_signed_in,
    rest_as_long,
    share,
)
from api.limits.refusal_delays import Refusals
from api.resources.carrier_callbacks.routes import MAX_BODY_BYTES as MAX_CALLBACK_BYTES
from api.resources.imports.upload import MAX_UPLOAD_BYTES
from api.server.connections import Connections
from api.server.owners import owner_by_peer
from api.server.responses import Send, problem_response, send_stream, send_whole, wait_until_done
from shared.db.cancellation import Cancellation

Scope = MutableMapping[str, Any]
Reply = Response | PendingResponse

THREADS = 8
"""Default size of the lane for accounts. In production it is DATABASE_POOL."""
IN_MEMORY = 2 * 1024 * 1024
"""Bytes of an account's body that are kept in memory: enough for 100,000 phones. Before sign-in it is SMALL_BODY."""
EVENT_LOOP_PATH = f"{PREFIX}/sms/send"
"""Its POST requests are handled on the event loop."""
PASSWORDS = frozenset(
    f"{PREFIX}/{path}" for path in ("sign-in", "invitations/accept", "me/password", "me/totp", "me/totp/disable")
)
"""Paths where a password is hashed, which takes long: they have threads of their own, and few."""
OIDC = frozenset(f"{PREFIX}/{path}" for path in ("sign-in/oidc", "sign-in/oidc/complete"))
"""Paths that wait for the OpenID Connect provider, which may hang, have threads of their own too."""
HEALTH = ("/healthz", "/readyz")
"""Their shares are counted separately: a proxy may check health from the address of other requests."""
CARRIERS = "/carriers/"
EXPORTED = "text/csv"
"""The `Accept` of an export. If the account has too many exports, it is refused before any work."""
IMPORT = "/import"
"""The end of each path that takes a file."""


class Refusal(NamedTuple):
    """A refusal (4xx, 5xx) to be sent, the size of the request's body, and whether part of it is unread."""

    response: WholeResponse
    body_bytes: int = 0
    unread: bool = False


class Application:
    """A WSGI application, and one endpoint that is handled on the event loop, as an ASGI application."""

    def __init__(
        self,
        app: Wsgi,
        on_loop: DirectEndpoint | None = None,
        owner_of: Callable[[Environ], Owner] = owner_by_peer,
        connections: Connections | None = None,
        threads: int = THREADS,
    ) -> None:
        """`on_loop` handles POST requests to EVENT_LOOP_PATH. `threads` is the size of the lane for accounts. Each
        thread uses one database connection, and the pool has more for the other lanes."""
        self._app = app
        self._on_loop = on_loop
        self._owner_of = owner_of
        self.connections = connections or Connections()
        self._single = Lane("single", SINGLE_THREADS, SINGLE_THREADS // 2)
        self._sign_in = Lane("sign-in", SIGN_IN_THREADS, SIGN_IN_THREADS // 2)
        self._passwords = Lane("passwords", PASSWORD_THREADS, 1, PASSWORD_NICENESS)
        self._oidc = Lane("oidc", OIDC_THREADS, OIDC_THREADS // 2)
        self._carriers = Lane("carriers", CARRIER_THREADS, CARRIER_THREADS)
        self._accounts = Lane("accounts", max(2, threads), max(1, threads // 4))
        self._chunks = Lane("exports", EXPORT_THREADS, 1)
        self._open, self._exports, self._large, self._parsed = Share(), Share(), Permits(), Permits()
        self._unread: Counter[Owner] = Counter()
        """Bytes of large responses that their clients have not taken yet."""
        self.refusals, self._delayed = Refusals(), Share()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request. Sends no response if the client has left."""
        environ = environ_of(scope, Unread())
        owner = self._owner_of(environ)
        if scope["path"] in HEALTH and announced_length(scope["headers"]) == 0:
            owner = f"health {owner}"
        if not self._open.acquire(owner, share(owner, MAX_PER_ACCOUNT, MAX_PER_ADDRESS)):
            refusal = Refusal(_too_many(scope["path"]), unread=True)
            await self._refuse(owner, refusal, receive, send)
            return
        try:
            if self._on_loop is not None and is_for_event_loop(scope):
                environ["wsgi.input"] = whole = Whole(await whole_body(receive))
                response = await self._respond_on_loop(self._on_loop, owner, environ)
                if response.status < 400:
                    await send_whole(send, receive, response)
                    return
                refusal = Refusal(response, whole.size)
            else:
                async with self._body(owner, scope, receive) as body:
                    environ["wsgi.input"] = body
                    refused = await self._respond_in_thread(owner, environ, receive, send)
                if refused is None:
                    return
                refusal = refused
        except Gone:
            return
        except TooSlow:
            slow = problem_response("bad_request", "The body did not arrive in time.", scope["path"])
            refusal = Refusal(slow, unread=True)
        finally:
            self._open.release(owner)
        await self._refuse(owner, refusal, receive, send)

    @asynccontextmanager
    async def _body(self, owner: Owner, scope: Scope, receive: Receive) -> AsyncIterator[Whole | Spooled | Unread]:
        """The complete body of a request. Raises Gone or TooSlow."""
        length, limit = announced_length(scope["headers"]), _max_body_bytes(owner, scope["path"])
        if length is not None and length <= SMALL_BODY:
            yield Whole(await whole_body(receive))
        elif length is not None and length > limit:
            yield Unread()
        else:
            await self._large.acquire(owner, share(owner, LARGE_OF_ACCOUNT, LARGE_OF_ADDRESS))
            try:
                body = await spooled_body(receive, limit, share(owner, IN_MEMORY, SMALL_BODY))
                try:
                    async with self._worked_on(owner, scope["path"]):
                        yield body
                finally:
                    body.close()
            finally:
                self._large.release(owner)

    @asynccontextmanager
    async def _worked_on(self, owner: Owner, path: str) -> AsyncIterator[None]:
        """Held while a large body is parsed and worked on. Waits until the owner may have one more."""
        if path.endswith(IMPORT):
            yield
            return
        await self._parsed.acquire(owner, WORKED_ON_OF_ACCOUNT)
        try:
            yield
        finally:
            self._parsed.release(owner)

    async def _respond_in_thread(
        self, owner: Owner, environ: Environ, receive: Receive, send: Send
    ) -> "Refusal | None":
        """Handle a request in a thread and send its response. A refusal is returned, and not sent yet."""
        lane, unread = self._lane(owner, environ["PATH_INFO"]), environ["wsgi.input"].unread()
        if EXPORTED in environ.get("HTTP_ACCEPT", "") and self._exports.held(owner) >= EXPORTS_OF_ACCOUNT:
            return Refusal(_too_many_exports(environ["PATH_INFO"]), unread=unread)
        cancellation = environ[CANCELLATION] = Cancellation()
        job = lane.submit(owner, partial(self._call, owner, environ))
        if not unread:
            await wait_until_done(job, receive, partial(lane.withdraw, owner, job), cancellation.cancel)
        response = await job
        if isinstance(response, WholeResponse):
            if response.status >= 400:
                return Refusal(response, environ["wsgi.input"].size, unread)
            self._unread[owner] += len(response.body)
            try:
                await send_whole(send, receive, response, unread)
            finally:
                self._unread[owner] -= len(response.body)
                if not self._unread[owner]:
                    del self._unread[owner]
        elif self._exports.acquire(owner, EXPORTS_OF_ACCOUNT):
            try:
                await send_stream(send, receive, response, partial(self._make_chunk, owner), cancellation.cancel)
            finally:
                self._exports.release(owner)
        else:
            await lane.submit(owner, response.close)
            return Refusal(_too_many_exports(environ["PATH_INFO"]), unread=unread)
        return None

    async def _refuse(self, owner: Owner, refusal: "Refusal", receive: Receive, send: Send) -> None:
        """Send a refusal, later if it is one of too many. Meanwhile its request holds nothing of its owner's share."""
        seconds = self.refusals.delay(owner, refusal.response.status, refusal.body_bytes)
        if seconds and self._delayed.acquire(owner, MAX_DELAYED):
            try:
                await asyncio.sleep(seconds)
            finally:
                self._delayed.release(owner)
        await send_whole(send, receive, refusal.response, refusal.unread)

    def _call(self, owner: Owner, environ: Environ) -> WholeResponse | StreamedResponse:
        """Call the WSGI application, unless too much is unread. In a thread: the check comes when it is its turn."""
        if self._unread[owner] > MAX_UNREAD_BYTES:
            return problem_response(
                "rate_limited", "Your clients have not read earlier responses.", environ["PATH_INFO"]
            )
        return call(self._app, environ)

    def _make_chunk(self, owner: Owner, make: Callable[[], Any]) -> "asyncio.Future[Any]":
        """Make the next chunk of a streamed response in a thread, which then rests for as long."""
        return self._chunks.submit(owner, partial(rest_as_long, make))

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
            reply = await self._single.submit(owner, partial(endpoint.call, request))
        assert isinstance(reply, Response)
        return endpoint.complete(request, reply)

    def _lane(self, owner: Owner, path: str) -> Lane:
        path = "/" + path.strip("/")  # extra slashes lead to the same view
        if path == EVENT_LOOP_PATH:
            return self._single
        if path.startswith(CARRIERS):
            return self._carriers
        if path in PASSWORDS:
            return self._passwords
        if path in OIDC:
            return self._oidc
        return self._accounts if is_signed_in(owner) else self._sign_in


def _too_many_exports(path: str) -> WholeResponse:
    detail = f"Only {EXPORTS_OF_ACCOUNT} exports per account may run at the same time."
    return problem_response("rate_limited", detail, path)


def is_for_event_loop(scope: Scope) -> bool:
    """Whether the event loop handles the request."""
    return scope["path"] == EVENT_LOOP_PATH and scope["method"] == "POST" and is_small(scope["headers"], SMALL_BODY)


def _too_many(path: str) -> WholeResponse:
    return problem_response("rate_limited", "Too many of your requests are in progress.", path)


def _max_body_bytes(owner: Owner, path: str) -> int:
    """The size of the largest body that is read. Endpoints may have lower limits."""
    if not is_signed_in(owner):
        return MAX_CALLBACK_BYTES if path.startswith(CARRIERS) else SMALL_BODY
    return MAX_UPLOAD_BYTES if path.endswith(IMPORT) else LARGE_BODY
