"""Sends through the front, and what became of them by the API and by the SMSC."""

import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from bulksms_client import BulkSmsError, Client

SENDER = "ACME"
BULK = 1_000
STEP = 1_000_000


class Bulk:
    """Sends to many phones each."""

    def __init__(self, client: Client, first_phone: int) -> None:
        self._client, self._next = client, first_phone

    def send(self, sends: int) -> set[str]:
        """Make that many sends of BULK messages. Returns the phones of those that were accepted."""
        accepted: set[str] = set()
        for _ in range(sends):
            phones = [str(self._next + number) for number in range(BULK)]
            self._next += BULK
            sent = self._client.send_bulk(SENDER, phones, "Your parcel is on its way.")
            assert sent.rejected == [], sent
            accepted.update(phones)
        return accepted


class Sender(threading.Thread):
    """Sends one message after the other, as applications do with the Python client: it repeats what got no response."""

    def __init__(self, client: Client, first_phone: int) -> None:
        super().__init__(daemon=True)
        self._client, self._next = client, first_phone
        self._over = threading.Event()
        self.accepted: set[str] = set()
        self.failures: list[str] = []

    def run(self) -> None:
        while not self._over.wait(0.01):
            phone = str(self._next)
            self._next += 1
            try:
                self._client.send(SENDER, phone, "Your code is 4711.")
                self.accepted.add(phone)
            except BulkSmsError as error:
                self.failures.append(f"{phone}: {error!r}")

    def stop(self) -> None:
        """Stop; the request under way ends first."""
        self._over.set()
        self.join(60)


class Senders:
    """Several of them, in a `with` block."""

    def __init__(self, client: Client, count: int, first_phone: int) -> None:
        self._all = [Sender(client, first_phone + number * STEP) for number in range(count)]

    def __enter__(self) -> "Senders":
        for each in self._all:
            each.start()
        return self

    def __exit__(self, *_: object) -> None:
        for each in self._all:
            each.stop()

    @property
    def accepted(self) -> set[str]:
        """The phones whose messages were accepted."""
        return {phone for each in self._all for phone in list(each.accepted)}

    @property
    def failures(self) -> list[str]:
        """What was not answered with 200."""
        return [failure for each in self._all for failure in each.failures]


def statuses(client: Client) -> Iterator[tuple[str, str]]:
    """The phone and status of every message of the account, by the API."""
    for message in client.pages("/messages", limit=1000):
        yield message["phone"], message["status"]


def at_carrier(journal: Path) -> Counter[str]:
    """How often the SMSC took a message for each phone, by its own journal."""
    if not journal.exists():
        return Counter()
    fields = [line.split("\t") for line in journal.read_text().splitlines(keepends=True) if line[-1] == "\n"]
    return Counter(field[1] for field in fields if field[7] == "accepted")
