"""The kinds of objects of an account at which a worker can fail, each time that it tries.

What an account could poison by itself is mended, so these are spoiled in the database and in the broker, where no
request could. They are armed and disarmed there too, so that workers need not be restarted for it.

Retention and the counting of usage are not among them: they run every few minutes, and not by object.
"""

import itertools
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, NamedTuple

from psycopg.errors import DeadlockDetected, LockNotAvailable
from redis import Redis
from sqlalchemy import TextClause, text
from sqlalchemy.exc import OperationalError

from shared.task_queue import QUEUE
from tests.harness.house import House, wait_until
from tests.hostile.jobs import import_file, lines

FIRST_PHONE = 254_300_000_000
EVENT = "7fffffff-ffff-7fff-bfff-ffffffff0000"
IDS = "ANY(CAST(:ids AS uuid[]))"


class Kind(NamedTuple):
    """One kind. The statements have `:ids` of its objects."""

    name: str
    make: Callable[["Maker", int], list[str]]
    """Makes so many that nobody works at, and returns their ids."""
    spoil: TextClause
    arm: TextClause
    """From then on, workers take them."""
    disarm: TextClause
    """No worker takes them any more, and they can be armed again."""
    mend: TextClause | None = None
    """Undoes `spoil`."""


class Maker:
    """The account that the objects belong to."""

    def __init__(self, house: House) -> None:
        self.house = house
        self.account = house.new_account("poisoner")
        self._token = house.token
        self.group = house.new_group(self.account, 1, FIRST_PHONE)
        self._phones = itertools.count(FIRST_PHONE)
        self._later = (datetime.now(UTC) + timedelta(days=1)).isoformat()

    def send(self, path: str, **body: Any) -> str:
        """A send that is due tomorrow."""
        self.house.token = self._token
        return str(self.house.post(path, sender_id="ACME", send_at=self._later, **body)["send_id"])

    def bulk(self, message: str) -> str:
        """A send to a phone that has not had any, so that no limit refuses it."""
        phones = [{"phone": str(next(self._phones)), "variables": {"name": "Ann"}}]
        return self.send("/sms/send-bulk", phones=phones, message=message)

    def cancel(self, sends: list[str]) -> None:
        """Cancel sends, unless a worker that had begun to close one could do so when it was disarmed."""
        self.house.token = self._token
        for send in sends:
            status, response = self.house.try_request("POST", f"/sends/{send}/cancel")
            assert status in (200, 409), response

    def imports(self, count: int) -> list[str]:
        """Imports that are over."""
        self.house.token = self._token
        made = []
        for _ in range(count):  # one after the other: only some may wait at the same time
            made.append(import_file(self.house, self.group, lines([FIRST_PHONE])))
            wait_until(lambda: self.house.get(f"/imports/{made[-1]}")["status"] == "completed", 60, "an import")
        return made

    def inserted(self, statement: TextClause, count: int) -> list[str]:
        """Rows of the account, by a statement that returns their ids."""
        with self.house.engine.begin() as connection:
            made = connection.execute(statement, {"account": self.account, "count": count, "phone": FIRST_PHONE})
            return [str(row) for row in made.scalars()]

    def webhooks(self, count: int) -> list[str]:
        """Webhooks of the account, which is more than it could have."""
        self.house.token = self._token
        hook = self.house.post("/webhooks", url="http://127.0.0.1:1/")["webhook_id"]
        made = self.inserted(MORE_WEBHOOKS, count)
        self.house.request("DELETE", f"/webhooks/{hook}")
        return made


def _of_group(maker: Maker, count: int) -> list[str]:
    return [maker.send("/sms/send-group", group_id=maker.group, message="Sale") for _ in range(count)]


def _bulk(maker: Maker, count: int) -> list[str]:
    return [maker.bulk("Sale") for _ in range(count)]


def _with_names(maker: Maker, count: int) -> list[str]:
    return [maker.bulk("Hi {{name}}") for _ in range(count)]


MORE_WEBHOOKS = text(
    """
    INSERT INTO webhook
    SELECT (jsonb_populate_record(w, jsonb_build_object('id', gen_random_uuid(), 'state', 'disabled'))).*
      FROM webhook w, generate_series(1, CAST(:count AS int)) WHERE w.account_id = :account
    RETURNING id
    """
)
ERASURES = text(
    """
    INSERT INTO erasure (id, account_id, phone, due_at)
    SELECT gen_random_uuid(), :account, :phone + n, 'infinity' FROM generate_series(1, CAST(:count AS int)) AS n
    RETURNING id
    """
)
BACK = """
    WITH s AS (UPDATE send SET state = 'scheduled', held_by = NULL, held_reason = NULL, rules = NULL
                WHERE id = ANY(CAST(:ids AS uuid[])))
    UPDATE batch SET state = 'waiting', intent = 0, watermark = 0, lease_until = NULL, crashes = 0
     WHERE send_id = ANY(CAST(:ids AS uuid[]))
"""

KINDS = (
    Kind(
        "import",
        Maker.imports,
        text(f"DELETE FROM import_chunk WHERE import_id = {IDS}"),
        text(f"UPDATE contact_import SET state = 'queued', finished_at = NULL, next_chunk = 0 WHERE id = {IDS}"),
        text(f"UPDATE contact_import SET state = 'failed', error = 'Poisoned' WHERE id = {IDS}"),
    ),
    Kind(
        "expansion",
        _of_group,
        text("SELECT 1"),
        text(f"UPDATE send SET state = 'expanding', rules = '5' WHERE id = {IDS}"),
        text(BACK),
    ),
    Kind(
        "batch",
        _with_names,
        text(f"UPDATE batch SET variables = '[]' WHERE send_id = {IDS}"),
        text(
            f"WITH s AS (UPDATE send SET state = 'queued' WHERE id = {IDS}) "
            f"UPDATE batch SET state = 'queued' WHERE send_id = {IDS}"
        ),
        text(BACK),
    ),
    Kind(
        "recovery",
        _bulk,
        text(f"UPDATE batch SET recipients = '' WHERE send_id = {IDS}"),
        text(
            f"""
            WITH s AS (UPDATE send SET state = 'sending' WHERE id = {IDS})
            UPDATE batch SET state = 'sending', intent = 1, watermark = 1, database_started = NULL,
                             lease_until = clock_timestamp() - interval '1 minute' WHERE send_id = {IDS}
            """
        ),
        text(BACK),
        text(f"UPDATE batch SET recipients = '{FIRST_PHONE}' WHERE send_id = {IDS}"),
    ),
    Kind(
        "closing",
        _of_group,
        text("SELECT 1"),
        text(
            "UPDATE send SET expires_at = clock_timestamp() - interval '1 minute', unexpanded_credits = 1000000000000"
            f" WHERE id = {IDS}"
        ),
        text(
            "UPDATE send SET expires_at = clock_timestamp() + interval '3 days', unexpanded_credits = NULL"
            f" WHERE id = {IDS}"
        ),
    ),
    Kind(
        "canary",
        _bulk,
        text(
            """
            CREATE FUNCTION refuse_release() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN IF NEW.rules IS NULL THEN RETURN NEW; END IF; RAISE EXCEPTION 'poisoned'; END $$;
            CREATE TRIGGER poisoned BEFORE UPDATE ON send FOR EACH ROW
              WHEN (OLD.rules = '{"canary": 1, "cap": 0}') EXECUTE FUNCTION refuse_release()
            """
        ),
        text(
            "UPDATE send SET state = 'held', held_by = 'canary', held_reason = 'Poisoned',"
            f""" rules = '{{"canary": 1, "cap": 0}}' WHERE id = {IDS}"""
        ),
        text(BACK),
        text("DROP FUNCTION refuse_release CASCADE"),
    ),
    Kind(
        "doubt",
        _bulk,
        text("SELECT 1"),
        text(
            f"""
            WITH b AS (SELECT CAST(overlay(CAST(id AS text) PLACING '0001' FROM 33) AS uuid) AS message, send_id
                         FROM batch WHERE send_id = {IDS}),
                 m AS (INSERT INTO message (id, phone, submitted_at, status, price, attempts, carrier)
                       SELECT message, {FIRST_PHONE}, clock_timestamp(), 'in_doubt', 32767, 1, 'simulator' FROM b)
            INSERT INTO doubt (message_id, carrier, sender_id, phone, submitted_at, expires_at)
            SELECT message, 'simulator', 'ACME', {FIRST_PHONE}, clock_timestamp(), '2000-01-01' FROM b
            """
        ),
        text(
            f"""
            WITH b AS (SELECT CAST(overlay(CAST(id AS text) PLACING '0001' FROM 33) AS uuid) AS message
                         FROM batch WHERE send_id = {IDS}),
                 d AS (DELETE FROM doubt USING b WHERE message_id = b.message)
            DELETE FROM message USING b WHERE id = b.message
            """
        ),
    ),
    Kind(
        "erasure",
        lambda maker, count: maker.inserted(ERASURES, count),
        text(f"UPDATE erasure SET counts = '5' WHERE id = {IDS}"),
        text(f"UPDATE erasure SET due_at = now() - interval '1 minute' WHERE id = {IDS}"),
        text(f"UPDATE erasure SET due_at = 'infinity' WHERE id = {IDS}"),
        text(f"DELETE FROM erasure WHERE id = {IDS}"),
    ),
    Kind(
        "webhook",
        Maker.webhooks,
        text(
            "INSERT INTO event (id, account_id, type, data)"
            f" SELECT CAST('{EVENT}' AS uuid), account_id, 'webhook.test', '5' FROM webhook WHERE id = {IDS} LIMIT 1"
        ),
        text(f"UPDATE webhook SET state = 'active', rest_until = NULL, failures = 0 WHERE id = {IDS}"),
        text(f"UPDATE webhook SET state = 'disabled' WHERE id = {IDS}"),
        text(f"DELETE FROM event WHERE id = '{EVENT}'"),
    ),
)
OF_SENDS = ("expansion", "batch", "recovery", "closing", "canary", "doubt")
FAILED = text("SELECT kind, count(*) FROM job_failure WHERE account_id = :account GROUP BY kind")
FAILED_BATCHES = text(f"SELECT count(*) FROM send WHERE id = {IDS} AND state = 'held'")
FORGET_FAILURES = text("DELETE FROM job_failure")


class Poison:
    """`count` objects of each kind. Workers fail at them within `with`, which can be entered again."""

    def __init__(self, house: House, count: int) -> None:
        self._house = house
        self._maker = Maker(house)
        self.count = count
        self._ids: dict[str, list[str]] = {}
        for kind in KINDS:
            self._ids[kind.name] = kind.make(self._maker, count)
        self._execute(lambda kind: kind.spoil)

    def __enter__(self) -> "Poison":
        self._execute(lambda kind: kind.arm)
        with Redis.from_url(self._house.redis.url) as redis:
            redis.lpush(QUEUE, *(f"poison {number}".encode() for number in range(self.count)))
        return self

    def __exit__(self, *_: object) -> None:
        self._execute(lambda kind: kind.disarm)
        with self._house.engine.begin() as connection:
            connection.execute(FORGET_FAILURES)

    def failed(self) -> dict[str, int]:
        """How many of each kind have failed since they were armed."""
        with self._house.engine.connect() as connection:
            rows = connection.execute(FAILED, {"account": self._maker.account}).all()
            held = connection.execute(FAILED_BATCHES, {"ids": self._ids["batch"]}).scalar_one()
        counts = {str(row[0]): int(row[1]) for row in rows}
        return {**{kind.name: counts.get(kind.name, 0) for kind in KINDS}, "batch": held}

    def remove(self) -> None:
        """Leave nothing behind that an audit would find."""
        self._execute(lambda kind: kind.mend)
        for name in OF_SENDS:
            self._maker.cancel(self._ids[name])

    def _execute(self, which: Callable[[Kind], TextClause | None]) -> None:
        for kind in KINDS:
            if (statement := which(kind)) is not None:
                wait_until(partial(self._has_run, statement, kind), 60, f"the change of {kind.name}")

    def _has_run(self, statement: TextClause, kind: Kind) -> bool:
        """Run it, unless a worker keeps its rows, or locks them in another order."""
        try:
            with self._house.engine.begin() as connection:
                connection.execute(statement, {"ids": self._ids[kind.name]} if ":ids" in statement.text else {})
        except OperationalError as error:
            if isinstance(error.orig, DeadlockDetected | LockNotAvailable):
                return False
            raise
        return True
