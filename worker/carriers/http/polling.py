"""Fetches receipts from a carrier that does not post them."""

import logging
import threading
from datetime import UTC, datetime

from shared.carriers.http import callbacks, paths
from shared.carriers.http.config import HttpConfig
from shared.carriers.http.request_templates import filled_text, filled_url
from shared.periodic import repeat
from worker.carriers.base import CarrierInbox
from worker.carriers.http.transport import Lost, Transport

log = logging.getLogger(__name__)

MAX_PAGES = 20
"""Most answers fetched at once; the others wait for the next poll."""


class Poller:
    """Polls every few seconds, in its own thread. Without a `poll` table it does nothing.

    If the carrier returns each receipt only once, receipts fetched during a database outage are lost.
    """

    def __init__(self, config: HttpConfig, transport: Transport) -> None:
        self._config = config
        self._transport = transport
        self._stop = threading.Event()

    def start(self, inbox: CarrierInbox) -> None:
        """Begin to poll."""
        self._inbox = inbox
        if self._config.poll is not None:
            repeat(self._poll, self._config.poll.interval, f"{self._config.name}-poll", self._stop)

    def stop(self) -> None:
        """Stop polling."""
        self._stop.set()

    def _poll(self) -> None:
        """Fetch until the carrier has no more receipts, or hands out the same ones again."""
        try:
            page: list[str] = []
            for _ in range(MAX_PAGES):
                before, page = page, self.fetch()
                if not page or page == before or self._stop.is_set():
                    break
        except Lost as lost:
            log.warning("%s: receipts could not be fetched: %s", self._config.name, lost)
        except Exception as error:
            log.warning("%s: receipts could not be stored: %s", self._config.name, type(error).__name__)

    def fetch(self) -> list[str]:
        """Fetch and store a page of receipts. Returns their message ids. Raises Lost, or what storing raises."""
        poll = self._config.poll
        assert poll is not None
        values = self._config.values
        headers = {name: filled_text(value, values) for name, value in poll.headers.items()}
        response = self._transport.get(filled_url(poll.url, values), headers, self._config.response_timeout)
        if response.status == 204:
            return []
        if response.status != 200:
            raise Lost(f"http_{response.status}")
        try:
            receipts, _ = callbacks.receipts_in(self._config, paths.parse(response.body), datetime.now(UTC))
        except callbacks.UnreadableCallback:
            raise Lost("unreadable_answer") from None
        if receipts:
            self._inbox.store_receipts(receipts)
        return [receipt.reference for receipt in receipts]
