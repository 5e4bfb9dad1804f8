"""The jobs of an account beside poisoned objects, and how long each takes."""

import http.client
import json
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

from sqlalchemy import TextClause, text

from bulksms.local.ports import LOOPBACK
from shared.accounts.limits import set_limits
from tests.harness.house import House
from tests.harness.receiver import Post, receiver
from tests.hostile.victim import accepted_at

CONTACTS = 200
ROWS = 2_000
SINGLES, GAP = 3, 0.1
"""Sends to one phone each time, as they vary most, and the seconds before each: right after another one, a worker waits
for more."""
FIRST_PHONE = 254_600_000_000
PATIENCE = 180.0
POLL = 0.01
SINGLE, TOLD = "single send handed over", "webhook told of it"
GROUP, IMPORT = f"send to a group of {CONTACTS}", f"import of {ROWS:,} rows"
SUBMITTED = text("SELECT extract(epoch FROM at) FROM simulated_submit WHERE message_id = CAST(:id AS uuid)")
SENT = text("SELECT extract(epoch FROM completed_at - created_at) FROM send WHERE id = CAST(:id AS uuid)")
IMPORTED = text(
    """
    SELECT extract(epoch FROM finished_at - created_at) FROM contact_import
     WHERE id = CAST(:id AS uuid) AND state = 'completed'
    """
)

Took = dict[str, list[float]]
"""Seconds that each job took from its acceptance to its end, by the clocks of the service."""


class Neighbour:
    """An account that does one job after the other."""

    def __init__(self, house: House, callback_url: str, webhook_times: dict[UUID, float]) -> None:
        self._house = house
        self._callback_url = callback_url
        self._told = webhook_times
        account = house.new_account("neighbour")
        self._token = house.token
        with house.engine.begin() as connection:
            set_limits(connection, account, recipient_transactional=0)  # its phones get a message each time
        self._group = house.new_group(account, CONTACTS, FIRST_PHONE)
        self._other_group = house.new_group(account, 1, FIRST_PHONE)
        self._rows = 0

    def work(self, rounds: int) -> Took:
        """Do each job so many times, the single send more often. Raises AssertionError where one does not end."""
        self._house.token = self._token
        took: Took = {SINGLE: [], TOLD: [], GROUP: [], IMPORT: []}
        for _ in range(rounds):
            for _ in range(SINGLES):
                time.sleep(GAP)
                message = UUID(self._send("/sms/send", phone=str(FIRST_PHONE), callback_url=self._callback_url))
                took[SINGLE].append(self._seconds(SUBMITTED, message) - accepted_at(message))
            took[TOLD].append(_found(lambda message=message: self._told.get(message), TOLD) - accepted_at(message))
            took[GROUP].append(self._seconds(SENT, self._send("/sms/send-group", group_id=self._group)))
            phones = range(FIRST_PHONE + self._rows, FIRST_PHONE + self._rows + ROWS)
            took[IMPORT].append(self._seconds(IMPORTED, import_file(self._house, self._other_group, lines(phones))))
            self._rows += ROWS
        return took

    def _send(self, path: str, **body: Any) -> str:
        response = self._house.post(path, sender_id="ACME", message="Hi", **body)
        return str(response.get("message_id") or response["send_id"])

    def _seconds(self, statement: TextClause, subject: object) -> float:
        def read() -> float | None:
            with self._house.engine.connect() as connection:
                value = connection.execute(statement, {"id": str(subject)}).scalar()
            return None if value is None else float(value)

        return _found(read, str(statement))


def _found(measure: Callable[[], float | None], what: str) -> float:
    deadline = time.monotonic() + PATIENCE
    while (value := measure()) is None:
        assert time.monotonic() < deadline, f"{what} did not come within {PATIENCE:g} s"
        time.sleep(POLL)
    return value


@contextmanager
def neighbour(house: House) -> Iterator[Neighbour]:
    """A neighbour, with the receiver of its callbacks."""
    webhook_times: dict[UUID, float] = {}

    def note(post: Post) -> int:
        if "message_id" in (data := post.payload["data"]):  # and not the end of a send
            webhook_times.setdefault(UUID(data["message_id"]), time.time())
        return 204

    with receiver(note) as receiving:
        yield Neighbour(house, receiving.url, webhook_times)


def lines(phones: Iterable[int]) -> bytes:
    """A file of phones."""
    return "".join(f"{phone}\n" for phone in phones).encode()


def import_file(house: House, group: str, data: bytes) -> str:
    """Begin an import; returns its id."""
    connection = http.client.HTTPConnection(LOOPBACK, house.port, timeout=60)
    headers = {"Content-Type": "text/csv", "Authorization": f"Bearer {house.token}"}
    try:
        connection.request("POST", f"/api/v1/groups/{group}/import", data, headers)
        response = connection.getresponse()
        imported = json.loads(response.read())
        assert response.status == 200, imported
        return str(imported["import_id"])
    finally:
        connection.close()
