"""The certificate of the SMPP server. After a renewal, new handshakes use the new one without a restart."""

import asyncio
import logging
import ssl
from pathlib import Path

log = logging.getLogger(__name__)

CHECK_SECONDS = 3600.0


class Certificate:
    """A PEM file and its private key, which may be in a file of its own, with the TLS context that has them."""

    def __init__(self, file: str, key: str | None) -> None:
        self._file, self._key = file, key
        self._loaded = self._changed_at()
        self.context = self._new_context()

    async def reload_hourly(self) -> None:
        """Look for changed files every hour. On the event loop, so that no handshake begins meanwhile."""
        while True:
            await asyncio.sleep(CHECK_SECONDS)
            self.reload_if_changed()

    def reload_if_changed(self) -> None:
        """Load files that have changed. If that is not possible, the former ones stay in use."""
        try:
            changed_at = self._changed_at()
            if changed_at == self._loaded:
                return
            self._new_context()  # a context that loads a certificate without its key loses the former key
            self.context.load_cert_chain(self._file, self._key)
        except OSError as error:
            log.error("SMPP: the changed certificate cannot be used, and the former one stays in use: %s", error)
        else:
            self._loaded = changed_at
            log.info("SMPP: new connections get the changed certificate")

    def _changed_at(self) -> list[int]:
        return [Path(file).stat().st_mtime_ns for file in (self._file, self._key) if file is not None]

    def _new_context(self) -> ssl.SSLContext:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(self._file, self._key)
        return context
