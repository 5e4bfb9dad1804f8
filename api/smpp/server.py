"""Listens, keeps the sessions of a process, and ends them."""

import asyncio
import contextlib
import logging
import ssl
import time
from collections import Counter
from typing import Final
from uuid import UUID

from api.services import Services
from api.smpp.backend import Backend
from api.smpp.session import Session
from shared.accounts.smpp_credentials import renew_binds
from shared.address_block import address_block
from shared.db.connection import transaction

log = logging.getLogger(__name__)

MAX_SESSIONS, MAX_OF_ADDRESS = 2_000, 100
"""Connections of a process, and of one address or /64 among them. If there are as many, the oldest one without a bind
ends for a new one: strangers take nobody's place."""
HANDSHAKE_SECONDS: Final = 5.0
"""Of TLS. Until it is over, a connection counts as none."""
CHECK_SECONDS, RENEW_SECONDS = 1.0, 2.0
STOP_SECONDS: Final = 15.0
"""How long a stop waits for answers."""


class SmppServer:
    """A server. Create it on the event loop that runs it."""

    def __init__(self, services: Services) -> None:
        self._backend = Backend(services)
        self._sessions: dict[Session, None] = {}
        """In the order in which they were opened."""
        self._of_address: Counter[str] = Counter()
        self._listening: asyncio.Server | None = None
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self, host: str, port: int, tls: ssl.SSLContext | None = None) -> int:
        """Listen, and return the port. Several processes may share one."""
        self._listening = await asyncio.get_running_loop().create_server(
            lambda: Session(self._backend, self._opened, self._closed),
            host,
            port,
            ssl=tls,
            reuse_port=port != 0 or None,
            ssl_handshake_timeout=HANDSHAKE_SECONDS if tls is not None else None,
        )
        repeated = (self._backend.deliverer.run(), self._check(), self._renew())
        self._tasks = [asyncio.create_task(work) for work in repeated]
        return int(self._listening.sockets[0].getsockname()[1])

    async def stop(self) -> None:
        """Accept nothing more, answer what was begun, and unbind."""
        self._backend.stopping = True
        if self._listening is not None:
            self._listening.close()
        self._backend.deliverer.stop.set()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(STOP_SECONDS):
                await asyncio.gather(self._tasks[0], *(session.finished() for session in self._sessions))
                for session in list(self._sessions):
                    session.unbind()
                while self._sessions:
                    await asyncio.sleep(0.05)
        for session in list(self._sessions):
            session.abort()
        for task in self._tasks:
            task.cancel()
        await asyncio.sleep(0)
        await self._backend.close()

    def _opened(self, session: Session) -> bool:
        block = address_block(session.address)
        if self._backend.stopping or self._of_address[block] >= MAX_OF_ADDRESS or not self._has_place():
            return False
        self._sessions[session] = None
        self._of_address[block] += 1
        return True

    def _has_place(self) -> bool:
        """Whether there is a place for one more, which may be that of a connection without a bind."""
        if len(self._sessions) < MAX_SESSIONS:
            return True
        oldest = next((each for each in self._sessions if each.bound is None), None)
        if oldest is not None:
            self._closed(oldest)
            oldest.abort()
        return oldest is not None

    def _closed(self, session: Session) -> None:
        if session in self._sessions:
            del self._sessions[session]
            self._of_address -= Counter([address_block(session.address)])

    async def _check(self) -> None:
        while True:
            await asyncio.sleep(CHECK_SECONDS)
            now = time.monotonic()
            for session in list(self._sessions):
                session.check(now)

    async def _renew(self) -> None:
        """Keep the binds, and end those whose credentials were revoked or rotated."""
        while True:
            await asyncio.sleep(RENEW_SECONDS)
            bound = {session.bound.id: session for session in self._sessions if session.bound is not None}
            if bound:
                try:
                    stay = await self._backend.in_thread(self._renewed, list(bound))
                except Exception as error:
                    log.warning("binds were not renewed: %s", type(error).__name__)
                    continue
                for ended in bound.keys() - stay:
                    bound[ended].unbind()

    def _renewed(self, binds: list[UUID]) -> set[UUID]:
        with transaction(self._backend.services.engine, durable=False) as connection:
            return renew_binds(connection, binds)
