"""Requests that are handled in threads: which pool of threads they wait for, and how their responses are made and sent.

The loop waits for bodies and writes long responses, so a request holds a thread only while it is worked on.
"""

from collections import Counter
from functools import partial

from api.endpoint import PREFIX
from api.http.request import Environ, Receive, Send
from api.http.wsgi import StreamedResponse, WholeResponse, Wsgi, call
from api.limits.bulkheads import (
    CARRIER_THREADS,
    EXPORT_THREADS,
    EXPORTS_OF_ACCOUNT,
    MAX_UNREAD_BYTES,
    OIDC_THREADS,
    PASSWORD_THREADS,
    SIGN_IN_THREADS,
    SINGLE_THREADS,
    FairThreadPool,
    Holdings,
    Owner,
    is_signed_in,
)
from api.server.responses import early_problem, send_stream, send_whole, wait_until_done

SINGLE = f"{PREFIX}/sms/send"
"""A send to one phone: the most frequent request."""
PASSWORDS = frozenset(
    f"{PREFIX}/{path}" for path in ("sign-in", "invitations/accept", "me/password", "me/totp", "me/totp/disable")
)
"""Paths where a password is hashed, which takes long: they have threads of their own, and few."""
OIDC = frozenset(f"{PREFIX}/{path}" for path in ("sign-in/oidc", "sign-in/oidc/complete"))
"""Paths that wait for the OpenID Connect provider, which may hang, have threads of their own too."""
CARRIERS = "/carriers/"


class ThreadPools:
    """Handles requests by a WSGI application, in threads. Each thread uses one database connection.

    `threads` are as many as the connections that the process keeps. They are divided between `accounts` and `exports`,
    whose statements may take long, so that commits and the other pools always have the connections of OVERFLOW.
    """

    def __init__(self, app: Wsgi, threads: int) -> None:
        self._app = app
        quarter = max(1, threads // 4)
        exports = min(EXPORT_THREADS, quarter)
        self.single = FairThreadPool("single", SINGLE_THREADS, SINGLE_THREADS // 2)
        self._sign_in = FairThreadPool("sign-in", SIGN_IN_THREADS, SIGN_IN_THREADS // 2)
        self._passwords = FairThreadPool("passwords", PASSWORD_THREADS, 1)
        self._oidc = FairThreadPool("oidc", OIDC_THREADS, OIDC_THREADS // 2)
        self._carriers = FairThreadPool("carriers", CARRIER_THREADS, CARRIER_THREADS)
        self._accounts = FairThreadPool("accounts", max(2, threads - exports), quarter)
        self._chunks = FairThreadPool("exports", exports, 1)
        self._exports = Holdings()
        self._unread: Counter[Owner] = Counter()
        """Bytes of large responses that their clients have not taken yet."""

    async def respond(self, owner: Owner, environ: Environ, receive: Receive, send: Send) -> None:
        """Handle a request in a thread and send its response."""
        pool, unread = self._pool_for(owner, environ["PATH_INFO"]), environ["wsgi.input"].unread()
        job = pool.submit(owner, partial(self._call, owner, environ))
        if not unread:
            await wait_until_done(job, receive, partial(pool.withdraw, owner, job))
        response = await job
        if isinstance(response, WholeResponse):
            self._unread[owner] += len(response.body)
            try:
                await send_whole(send, receive, response, unread)
            finally:
                self._unread[owner] -= len(response.body)
                if not self._unread[owner]:
                    del self._unread[owner]
        elif self._exports.acquire(owner, EXPORTS_OF_ACCOUNT):
            try:
                await send_stream(send, receive, response, partial(self._chunks.submit, owner))
            finally:
                self._exports.release(owner)
        else:
            await pool.submit(owner, response.close)
            await send_whole(send, receive, _too_many_exports(environ["PATH_INFO"]), unread)

    def _call(self, owner: Owner, environ: Environ) -> WholeResponse | StreamedResponse:
        """Call the WSGI application, unless too much is unread. In a thread: the check comes when it is its turn."""
        if self._unread[owner] > MAX_UNREAD_BYTES:
            return early_problem("rate_limited", "Your clients have not read earlier responses.", environ["PATH_INFO"])
        return call(self._app, environ)

    def _pool_for(self, owner: Owner, path: str) -> FairThreadPool:
        path = "/" + path.strip("/")  # extra slashes lead to the same view
        if path == SINGLE:
            return self.single
        if path.startswith(CARRIERS):
            return self._carriers
        if path in PASSWORDS:
            return self._passwords
        if path in OIDC:
            return self._oidc
        return self._accounts if is_signed_in(owner) else self._sign_in


def _too_many_exports(path: str) -> WholeResponse:
    detail = f"Only {EXPORTS_OF_ACCOUNT} exports per account may run at the same time."
    return early_problem("rate_limited", detail, path)
