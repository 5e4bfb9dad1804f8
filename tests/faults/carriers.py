"""Carriers of the test's own for the faults between us and them: an SMSC behind a proxy, and a server for HTTP.

Both run in the test's process, so that a test can change what they do while the service sends. They keep their own
books of which phone was given what, and how often.
"""

import contextlib
import json
import threading
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bulksms.local.ports import LOOPBACK
from bulksms.smsc.behavior import Behavior, Decision
from bulksms.smsc.server import Smsc, running
from bulksms.smsc.settings import SmscSettings
from shared.carriers.smpp.constants import Command
from shared.carriers.smpp.pdu import read_message
from tests.faults.proxy import Proxy
from tests.harness.http_carrier import HttpPeer, Reply, Request, http_peer, json_reply

WINDOW = 100
"""Messages that one worker may have unanswered."""
SMPP = """[carrier.main]
kind = "smpp"
host = "127.0.0.1"
port = {port}
system_id = "us"
password = "right"
window = {window}
rate = 1500
response_timeout = 4
connect_timeout = 2
enquire_link = 2
{more}
"""
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
class Books:
    """How often each phone was given something."""

    given: Counter[int] = field(default_factory=Counter)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def take(self, phone: str) -> None:
        """A phone is given a message."""
        with self.lock:
            self.given[int(phone)] += 1

    def read(self) -> Counter[int]:
        """What was given so far."""
        with self.lock:
            return Counter(self.given)


class Moody(Behavior):
    """Decides by a function of the count of submits and the phone, while there is one."""

    def __init__(self) -> None:
        super().__init__(SmscSettings())
        self.mood: Callable[[int, str], Decision] | None = None
        self.plain = False
        self._count = 0

    def decide(self, destination: bytes) -> Decision:
        """What becomes of a submit."""
        self._count += 1
        if self.mood is None or destination.startswith(b"999"):
            return super().decide(destination)
        return self.mood(self._count, destination.decode())


@dataclass
class SmscPeer:
    """An SMSC, the proxy before it, and what it did."""

    smsc: Smsc
    proxy: Proxy
    behavior: Moody
    books: Books
    file: Path

    def do(self, change: Callable[[], object]) -> None:
        """Change something in the SMSC's own thread, and wait until it is done."""
        done = threading.Event()

        def change_it() -> None:
            change()
            done.set()

        self.smsc.loop.call_soon_threadsafe(change_it)
        assert done.wait(30)

    def change(self, **settings: Any) -> None:
        """Behave in another way."""

        def apply() -> None:
            self.smsc.change(**settings)
            self.smsc.behavior = self.behavior

        self.do(apply)

    def hang_up(self) -> None:
        """Break all connections."""
        self.do(self.smsc.drop_all)


@contextlib.contextmanager
def smsc_peer(folder: Path, more: str = "", window: int = WINDOW, **settings: Any) -> Iterator[SmscPeer]:
    """An SMSC for a test, with the file that names it."""
    books = Books()

    def watch(body: bytes, identity: str, verdict: str) -> None:
        if identity:
            books.take(read_message(Command.SUBMIT_SM, body).destination)

    values = {"port": 0, "receipt_delay": 0.2, "system_id": "us", "password": "right", **settings}
    with running(SmscSettings(**values), watch) as smsc, Proxy(smsc.port) as proxy:
        behavior = Moody()
        smsc.behavior = behavior
        file = folder / "carriers.toml"
        file.write_text(SMPP.format(port=proxy.port, window=window, more=more))
        yield SmscPeer(smsc, proxy, behavior, books, file)


@dataclass
class HttpCarrierPeer:
    """A carrier over HTTP that takes messages, and posts its receipts to the API until they are taken."""

    peer: HttpPeer
    books: Books
    file: Path
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
    books, lock, over = Books(), threading.Lock(), threading.Event()
    due: list[tuple[float, dict[str, Any]]] = []

    def respond(request: Request) -> Reply:
        with lock:
            made.request_count += 1
            count = made.request_count
        if made.refuse is not None and (reply := made.refuse(count, request)) is not None:
            return reply
        results = []
        for each in request.json["messages"]:
            books.take(each["to"])
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
        made = HttpCarrierPeer(peer, books, file)
        thread = threading.Thread(target=deliver, daemon=True)
        thread.start()
        try:
            yield made
        finally:
            over.set()
            thread.join(30)
