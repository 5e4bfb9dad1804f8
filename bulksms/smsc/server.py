"""A simulated SMSC: in its own thread, or as the command `bulksms smsc`."""

import asyncio
import contextlib
import threading
from collections.abc import Iterator
from dataclasses import replace
from itertools import count, cycle
from typing import Any

from bulksms.smsc.behavior import GARBAGE, Behavior
from bulksms.smsc.connection import Connection
from bulksms.smsc.delivery_queue import DeliveryQueue
from bulksms.smsc.inbound import inbound_parts
from bulksms.smsc.records import Records, Watch
from bulksms.smsc.settings import SmscSettings


class Smsc:
    """The state that connections share. Create it in the event loop that serves it."""

    def __init__(self, settings: SmscSettings, watch: Watch | None = None) -> None:
        self.settings = settings
        self.records = Records(watch=watch)
        self.behavior = Behavior(settings)
        self.garbage: Iterator[bytes] = cycle(GARBAGE)
        self.misbehaves = bool(settings.drop_after or settings.garbage_after)
        self.connections: set[Connection] = set()
        self.loop = asyncio.get_running_loop()
        self.port = settings.port
        self._delivery_queues: dict[str, DeliveryQueue] = {}
        self._ids = count(1)
        self._server: asyncio.Server | None = None

    async def start(self) -> None:
        """Listen. Raises OSError if the port is in use."""
        self._server = await self.loop.create_server(
            lambda: Connection(self), self.settings.host, self.settings.port, reuse_address=True
        )
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """Drop all connections, and stop listening."""
        if self._server is not None:
            self._server.close()
        self.drop_all()
        await asyncio.sleep(0)

    def drop_all(self) -> None:
        """Drop all connections."""
        for connection in list(self.connections):
            connection.abort()

    def change(self, **settings: Any) -> None:
        """Change settings, also for open connections. Receipts that are queued already are due as before."""
        self.settings = replace(self.settings, **settings)
        self.behavior = Behavior(self.settings)
        self.misbehaves = bool(self.settings.drop_after or self.settings.garbage_after)
        for queue in self._delivery_queues.values():
            queue.delay = self.settings.receipt_delay

    def delivery_queue(self, system_id: str) -> DeliveryQueue:
        """The deliveries of an account."""
        if system_id not in self._delivery_queues:
            self._delivery_queues[system_id] = DeliveryQueue(
                self.loop, self.settings.receipt_delay, self.records.counts
            )
        return self._delivery_queues[system_id]

    def receive_inbound(self, phone: str, recipient: str, text: str) -> None:
        """Deliver a message from a phone to all accounts that have bound. Raises ValueError if it cannot be an SMS."""
        parts = inbound_parts(phone, recipient, text)
        for queue in self._delivery_queues.values():
            queue.add_inbound(parts)

    def next_id(self) -> str:
        """The next message id."""
        return f"{next(self._ids):010x}"


@contextlib.contextmanager
def running(settings: SmscSettings, watch: Watch | None = None) -> Iterator[Smsc]:
    """Run a simulated SMSC in its own thread for the length of the block. It listens on its `port`."""
    started = threading.Event()
    started_smsc: list[Smsc] = []
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
            started_smsc.append(smsc)
            started.set()
        await stop[0].wait()
        await smsc.stop()

    thread = threading.Thread(target=lambda: asyncio.run(serve()), name="smsc", daemon=True)
    thread.start()
    started.wait()
    if failed:
        raise failed[0]
    try:
        yield started_smsc[0]
    finally:
        started_smsc[0].loop.call_soon_threadsafe(stop[0].set)
        thread.join(10)
