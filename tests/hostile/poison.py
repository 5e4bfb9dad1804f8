"""Poisoned objects: whatever a worker takes next, and fails at whenever it tries. Beside them the jobs of others.

What an account could poison by itself is mended, so these are spoiled in the database and in the broker, where no
request could.
"""

import http.client
import json
import statistics
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

from redis import Redis
from sqlalchemy import text

from bulksms.local.ports import LOOPBACK
from shared.task_queue import QUEUE
from tests.harness.house import House, wait_until
from tests.hostile.ground import Ground

COUNT = 50
ROUNDS = 20
CONTACTS = 200
ROWS = 2_000
FIRST_PHONE = 254_300_000_000
PATIENCE = 60.0
SPOIL = {
    "import": text("DELETE FROM import_piece WHERE import_id = ANY(CAST(:ids AS uuid[]))"),
    "expansion": text("UPDATE send SET rules = '5' WHERE id = ANY(CAST(:ids AS uuid[]))"),
    "batch": text("UPDATE batch SET variables = '[]' WHERE send_id = ANY(CAST(:ids AS uuid[]))"),
}
"""What makes each kind of object fail."""
FAILED = text("SELECT count(*) FROM job_failure WHERE kind = :kind AND subject = ANY(:ids)")
CRASHED = text(
    """
    SELECT count(*) FROM send s WHERE s.id = ANY(CAST(:ids AS uuid[]))
       AND (s.state = 'held' OR EXISTS (SELECT FROM batch b WHERE b.send_id = s.id AND b.crashes > 0))
    """
)
LISTED = text("SELECT count(*) FROM job_failure WHERE set_aside_at IS NOT NULL")


class Jobs(NamedTuple):
    """How long jobs took, in seconds from the request to the end."""

    sends: list[float]
    imports: list[float]


class Neighbour:
    """An account whose group sends and imports are measured."""

    def __init__(self, house: House) -> None:
        self._house = house
        account = house.new_account("neighbour")
        self._token = house.token
        self._group = house.new_group(account, CONTACTS, FIRST_PHONE)
        self._other_group = house.new_group(account, 1, FIRST_PHONE)
        self._rows = 0

    def work(self, rounds: int) -> Jobs:
        """A group send and an import, again and again. Raises AssertionError where one does not end."""
        house, made = self._house, Jobs([], [])
        house.token = self._token
        for _ in range(rounds):
            begin = time.monotonic()
            send = house.post("/sms/send-group", sender_id="ACME", group_id=self._group, message="Hi")
            self._wait(f"/sends/{send['send_id']}")
            made.sends.append(time.monotonic() - begin)
            begin = time.monotonic()
            phones = range(FIRST_PHONE + self._rows, FIRST_PHONE + self._rows + ROWS)
            self._wait(f"/imports/{import_file(house, self._other_group, lines(phones))}")
            made.imports.append(time.monotonic() - begin)
            self._rows += ROWS
        return made

    def _wait(self, path: str) -> None:
        wait_until(lambda: self._house.get(path)["status"] == "completed", PATIENCE, path)


class Poison:
    """Objects at which workers fail, `count` of each kind, of an account that nothing else waits for."""

    def __init__(self, house: House, count: int) -> None:
        """Make them while no worker runs, and start it then."""
        self._house = house
        house.workers.pop().stop()
        group = house.new_group(house.new_account("poisoner"), 1, FIRST_PHONE)
        self.ids: dict[str, list[str]] = {
            "import": [import_file(house, group, lines([FIRST_PHONE])) for _ in range(count)],
            "expansion": [self._send("group", group_id=group, message="Sale") for _ in range(count)],
            "batch": [self._send("bulk", phones=RECIPIENTS, message="Hi {{name}}") for _ in range(count)],
        }
        with house.engine.begin() as connection:
            for kind, statement in SPOIL.items():
                assert connection.execute(statement, {"ids": self.ids[kind]}).rowcount == count, kind
        with Redis.from_url(house.redis.url) as redis:
            redis.lpush(QUEUE, *(f"poison {number}".encode() for number in range(count)))
        house.start_workers(1)

    def failed(self) -> dict[str, int]:
        """How many of each kind have failed by now."""
        with self._house.engine.connect() as connection:
            counts = {
                kind: connection.execute(FAILED, {"kind": kind, "ids": self.ids[kind]}).scalar_one()
                for kind in ("import", "expansion")
            }
            counts["batch"] = connection.execute(CRASHED, {"ids": self.ids["batch"]}).scalar_one()
        return counts

    def _send(self, kind: str, **body: Any) -> str:
        return str(self._house.post(f"/sms/send-{kind}", sender_id="ACME", **body)["send_id"])


RECIPIENTS = [{"phone": str(FIRST_PHONE), "variables": {"name": "Ann"}}]


def lines(phones: Any) -> bytes:
    """A file of phones."""
    return "".join(f"{phone}\n" for phone in phones).encode()


def import_file(house: House, group: str, data: bytes) -> str:
    """Begin an import; returns its id."""
    connection = http.client.HTTPConnection(LOOPBACK, house.port, timeout=60)
    headers = {"Content-Type": "text/csv", "Authorization": f"Bearer {house.token}"}
    try:
        connection.request("POST", f"/api/v1/groups/{group}/import", data, headers)
        answer = connection.getresponse()
        told = json.loads(answer.read())
        assert answer.status == 200, told
        return str(told["import_id"])
    finally:
        connection.close()


def measured(there: Ground) -> tuple[Jobs, Jobs, dict[str, int]]:
    """The jobs of others in a quiet time and beside the poison, and how many poisoned objects failed meanwhile."""
    neighbour = Neighbour(there.house)
    neighbour.work(3)
    quiet = neighbour.work(ROUNDS)
    poison = Poison(there.house, COUNT)
    return quiet, neighbour.work(ROUNDS), poison.failed()


def rows(quiet: Jobs, beside: Jobs) -> Iterator[str]:
    """Lines of a table."""
    yield "| job of another | quiet: median, slowest | beside the poison: median, slowest |"
    yield "|---|---|---|"
    names = (f"send to a group of {CONTACTS}", f"import of {ROWS:,} rows")
    for name, before, after in zip(names, quiet, beside, strict=True):
        told = (f"{statistics.median(each):.2f} s, {max(each):.2f} s" for each in (before, after))
        yield f"| {name} | " + " | ".join(told) + " |"
