"""The http driver, as tests declare it, and a carrier that follows their script."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from shared.carriers.http import HttpConfig
from tests.harness.http_carrier import PATIENCE, HttpPeer, Reply, Request, http_peer
from tests.unit.carriers.smpp.making import KeptInbox, message_group
from worker.carriers.base import Outcome
from worker.carriers.http import HttpCarrier

PHONE = "254711000000"


def declared(url: str, **settings: Any) -> HttpConfig:
    """One message a request, as JSON."""
    request = {"url": url, "json": {"to": "{phone}", "text": "{text}", "from": "{sender_id}", "ref": "{message_id}"}}
    table = {"request": request, "response": {"id": "id", "error": "code"}, "window": 10, "response_timeout": PATIENCE}
    return HttpConfig.from_mapping("web", {**table, **settings})


@contextlib.contextmanager
def carrier(config: HttpConfig, inbox: KeptInbox | None = None) -> Iterator[HttpCarrier]:
    made = HttpCarrier(config)
    made.open(inbox or KeptInbox())
    try:
        yield made
    finally:
        made.close()


@contextlib.contextmanager
def pair(respond: Callable[[Request], Reply], **settings: Any) -> Iterator[tuple[HttpPeer, HttpCarrier]]:
    with http_peer(respond) as peer, carrier(declared(peer.url("/send"), **settings)) as made:
        yield peer, made


def one(made: HttpCarrier, text: str = "Hi") -> Outcome:
    (outcome,) = made.submit([message_group(text, [PHONE])])
    return outcome
