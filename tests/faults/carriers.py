"""A carrier over HTTP for the faults between us and it.

It runs in the test's process, so that a test can change what it does while the service sends, and keeps its own books
of which phone was given what.
"""

import contextlib
import json
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bulksms.local.ports import LOOPBACK
from tests.harness.http_carrier import HttpPeer, Reply, Request, http_peer, json_reply

WINDOW = 100
"""Messages that one worker may have unanswered."""
HTTP = """[carrier.main]
kind = "http"
preset = "generic"
values = {{ token = "t" }}
request = {{ url = "{url}", batch = 20 }}
callback = {{ auth = "secret", secret = "k" }}
window = {window}
response_timeout = 4
connect_timeout = 2
"""


@dataclass
class HttpCarrierPeer:
    """A carrier over HTTP that takes messages, and posts its receipts to the API until they are taken."""

    peer: HttpPeer
    file: Path
    given: list[int] = field(default_factory=list)
    """The phones that it was given a message for."""
    mood: Callable[[int, Request], Reply | None] | None = None
    """Given the count of requests: what replaces the usual reply, though the messages are taken all the same; None as
    usual. `refuse` has the same form, and then nothing is taken."""
    refuse: Callable[[int, Request], Reply | None] | None = None
    undelivered: int = 0
    """Receipts that the API has not taken yet."""
    request_count: int = 0
    api_port: int = 0
    """Where the receipts go; 0 as long as nobody is there."""


@contextlib.contextmanager
def http_carrier_peer(folder: Path) -> Iterator[HttpCarrierPeer]:
    """The carrier, with the file that names it."""
    lock, over = threading.Lock(), threading.Event()
    due: list[tuple[float, dict[str, Any]]] = []

    def respond(request: Request) -> Reply:
        with lock:
            made.request_count += 1
            count = made.request_count
        if made.refuse is not None and (reply := made.refuse(count, request)) is not None:
            return reply
        results = []
        for each in request.json["messages"]:
            made.given.append(int(each["to"]))
            results.append({"to": each["to"], "id": f"id-{each['reference']}", "status": "accepted"})
        receipts = [{"id": each["id"], "to": each["to"], "status": "delivered"} for each in results]
        with lock:
            due.append((time.monotonic() + 0.5, {"receipts": receipts}))
        reply = made.mood(count, request) if made.mood is not None else None
        return reply if reply is not None else json_reply({"messages": results})

    def deliver() -> None:
        while not over.wait(0.05):
            url = f"http://{LOOPBACK}:{made.api_port}/carriers/main/receipts?key=k"
            with lock:
                ready = [each for each in due if each[0] <= time.monotonic()]
                made.undelivered = len(due)
            for each in ready:
                request = urllib.request.Request(
                    url, json.dumps(each[1]).encode(), {"Content-Type": "application/json"}
                )
                with contextlib.suppress(OSError, urllib.error.URLError):
                    urllib.request.urlopen(request, timeout=10).close()
                    with lock:
                        due.remove(each)

    with http_peer(respond) as peer:
        file = folder / "carriers.toml"
        file.write_text(HTTP.format(url=peer.url("/send"), window=WINDOW))
        made = HttpCarrierPeer(peer, file)
        thread = threading.Thread(target=deliver, daemon=True)
        thread.start()
        try:
            yield made
        finally:
            over.set()
            thread.join(30)
