"""Limits how many requests of one session, of one account and of people who are not signed in are handled at a time.

Each holds a thread until its response has been sent. With the limits, nobody can hold up other accounts' pages.
"""

import threading
from collections import Counter
from collections.abc import Callable, Hashable, Iterator

from bulksms_client.errors import ApiError
from flask import Flask, Response, g, request, session

from console.session.current import SESSION_TOKEN, is_part, maybe_person, membership
from console.session.token_cache import digest
from shared.address_block import address_block

EXTENSION = "bulksms_fair_share"
MOST_OF_SESSION = 4
"""A quarter of the process's threads."""
MOST_OF_ACCOUNT = 8
"""Half of them."""
MOST_OF_STRANGERS, MOST_OF_ADDRESS = 8, 2
"""Of all people who are not signed in, and of one address. Those who wait for an OpenID Connect provider are counted
apart: a provider that hangs holds up no passwords."""
STRANGERS = ("sign_in", "oidc")
"""The blueprints whose pages call the API for people who are not signed in."""
RETRY_SECONDS = "2"


class Share:
    """Counts what each owner holds."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: Counter[Hashable] = Counter()

    def __len__(self) -> int:
        """How many owners hold something."""
        return len(self._held)

    def hold(self, owner: Hashable, most: int) -> bool:
        """Hold one more, unless the owner holds `most`."""
        with self._lock:
            if self._held[owner] >= most:
                return False
            self._held[owner] += 1
            return True

    def release(self, owner: Hashable) -> None:
        """Release one."""
        with self._lock:
            self._held[owner] -= 1
            self._held += Counter()  # forgets owners who hold nothing


def share_fairly(app: Flask) -> None:
    """Refuse requests beyond a share with 429. A live part then stays as it is, and polls again later."""
    share = app.extensions[EXTENSION] = Share()

    @app.before_request
    def hold() -> Response | None:
        g.held = []
        for owner, most in _owners():
            if not share.hold(owner, most):
                return _too_many()
            g.held.append(owner)
        return None

    @app.after_request
    def release_streamed(response: Response) -> Response:
        if response.is_streamed:
            response.call_on_close(_releasing(share, g.pop("held", [])))
        return response

    @app.teardown_request
    def release(error: BaseException | None) -> None:
        _releasing(share, g.pop("held", []))()


def _owners() -> Iterator[tuple[Hashable, int]]:
    """Whose request it is: the session's, then the account's if the person is in it. Files have no owner."""
    token = session.get(SESSION_TOKEN)
    if request.endpoint == "static":
        return
    if not token:
        if request.blueprint in STRANGERS:
            yield ("address", request.blueprint, address_block(request.remote_addr or "")), MOST_OF_ADDRESS
            yield ("strangers", request.blueprint), MOST_OF_STRANGERS
        return
    yield ("session", digest(str(token))), MOST_OF_SESSION
    if "account_id" in g and maybe_person() is not None and membership() is not None:
        yield ("account", g.account_id), MOST_OF_ACCOUNT


def _too_many() -> Response:
    if not is_part():
        g.nobody = True  # the error page must not call the API
        raise ApiError(429, {"code": "rate_limited"})
    return Response(status=429, headers={"HX-Reswap": "none", "Retry-After": RETRY_SECONDS})


def _releasing(share: Share, held: list[Hashable]) -> Callable[[], None]:
    def release() -> None:
        while held:
            share.release(held.pop())

    return release
