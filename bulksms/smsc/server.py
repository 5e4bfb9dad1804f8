"""A simulated SMSC as a server: in a loop of its own thread, or as the `bulksms smsc` command."""

import asyncio
import contextlib
import threading
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from typing import Any

from bulksms.smsc.books import Books, Watch
from bulksms.smsc.connection import Connection
from bulksms.smsc.garbage import Garbage
from bulksms.smsc.mailbox import Mailbox
from bulksms.smsc.phones import spoken
from bulksms.smsc.settings import SmscSettings
from bulksms.smsc.verdicts import Judge


class Smsc:
    """What the connections share. Made in the loop that it serves in."""

    def __init__(self, settings: SmscSettings, watch: Watch | None = None) -> None:
        self.settings = settings
        self.books = Books(watch=watch)
        self.judge = Judge(settings)
        self.garbage = Garbage()
        self.troubled = bool(settings.drop_after or settings.garbage_after)
        self.connections: set[Connection] = set()
        self.loop = asyncio.get_running_loop()
        self.port = settings.port
        self._mailboxes: dict[str, Mailbox] = {}
        self._ids = count(1)
        self._server: asyncio.Server | None = None

    async def start(self) -> None:
        """Listen. Raises OSError for a port that is taken."""
        self._server = await self.loop.create_server(
            lambda: Connection(self), self.settings.host, self.settings.port, reuse_address=True
        )
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """Break all connections, and listen no more."""
        if self._server is not None:
            self._server.close()
        self.drop_all()
        await asyncio.sleep(0)

    def drop_all(self) -> None:
        """Break all connections."""
        for connection in list(self.connections):
            connection.abort()

    def change(self, **settings: Any) -> None:
        """Behave in another way from now on, towards old connections too."""
        self.settings = replace(self.settings, **settings)
        self.judge = Judge(self.settings)
        self.troubled = bool(self.settings.drop_after or self.settings.garbage_after)
        for connection in self.connections:
            connection.settings = self.settings

    def mailbox(self, system_id: str) -> Mailbox:
        """The receipts of an account."""
        if system_id not in self._mailboxes:
            self._mailboxes[system_id] = Mailbox(self.loop, self.settings.receipt_delay, self.books.counts)
        return self._mailboxes[system_id]

    def speak(self, phone: str, recipient: str, text: str) -> None:
        """Let a phone write to the accounts that have bound. Raises ValueError for what no SMS can be."""
        parts = spoken(phone, recipient, text)
        for mailbox in self._mailboxes.values():
            mailbox.speak(parts)

    def next_id(self) -> str:
        """The next message id."""
        return f"{next(self._ids):010x}"


@contextlib.contextmanager
def running(settings: SmscSettings, watch: Watch | None = None) -> Iterator[Smsc]:
    """A simulated SMSC in a thread of its own, for the length of a block. `port` says where it listens."""
    started = threading.Event()
    made: list[Smsc] = []
    failed: list[OSError] = []
    stop: list[asyncio.Event] = []

    async def serve() -> None:
        smsc = Smsc(settings, watch)
        stop.append(asyncio.Event())
        try:
            await smsc.start()
        except OSError as error:
            failed.append(error)
            return
        finally:
            made.append(smsc)
            started.set()
        await stop[0].wait()
        await smsc.stop()

    thread = threading.Thread(target=lambda: asyncio.run(serve()), name="smsc", daemon=True)
    thread.start()
    started.wait()
    if failed:
        raise failed[0]
    try:
        yield made[0]
    finally:
        made[0].loop.call_soon_threadsafe(stop[0].set)
        thread.join(10)
