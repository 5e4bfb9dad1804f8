"""The carriers of a running installation as its workers report them, and the settings that can be changed live.

Changes are recorded in the audit log, and workers follow them within two seconds and drop no connection.
"""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, RowMapping, select, text

from shared.accounts.administration import Refused, create_account, find_account, top_up
from shared.accounts.audit_log import By, record
from shared.db.tables.carriers import carrier_setting
from shared.senders.sender_ids import decide_sender, request_sender

MAX_REPORT_AGE = 5
"""Seconds; older reports of workers are ignored."""
ACCOUNT, SENDER = "carrier-test", "TEST"
TOP_UP_CREDITS, MIN_CREDITS = 100, 20
"""The test account is topped up when it has less than the minimum; no message has more than 20 segments."""

LIST = text(
    """
    SELECT r.carrier,
           CASE WHEN bool_or(s.paused) THEN 'paused'
                WHEN bool_or(r.state = 'ready') THEN 'ready'
                ELSE (array_agg(r.state ORDER BY r.since DESC))[1] END AS state,
           max(r.error) AS error, count(*) AS workers, count(*) FILTER (WHERE r.state = 'ready') AS ready,
           max(r.rate) AS rate, min(r.allowed) AS allowed, max(r."window") AS "window",
           sum(r.submitted)::bigint AS submitted,
           sum(r.throttled)::bigint AS throttled, sum(r.failed)::bigint AS failed,
           (SELECT count(*) FROM batch b
             WHERE split_part(b.carrier, '/', 1) = r.carrier AND b.state IN ('queued', 'waiting')) AS batches,
           max(r.since) AS since, coalesce(bool_or(s.paused), false) AS paused
      FROM carrier_report r LEFT JOIN carrier_setting s ON s.name = r.carrier
     WHERE r.reported_at > clock_timestamp() - make_interval(secs => :fresh)
     GROUP BY r.carrier ORDER BY r.carrier
    """
)

NAMES = text(
    """
    SELECT carrier FROM carrier_report WHERE reported_at > clock_timestamp() - interval '1 day'
     GROUP BY carrier ORDER BY carrier
    """
)

UNREADABLE = text(
    """
    SELECT id, carrier, reason, received_at, octets FROM unreadable_receipt
     WHERE (CAST(:carrier AS text) IS NULL OR carrier = :carrier) AND id < :before ORDER BY id DESC LIMIT :limit
    """
)

CHANGE = text(
    """
    INSERT INTO carrier_setting AS s (name, rate, "window", paused)
    VALUES (:name, :rate, :window, coalesce(CAST(:paused AS boolean), false))
    ON CONFLICT (name) DO UPDATE SET
        rate = coalesce(EXCLUDED.rate, s.rate), "window" = coalesce(EXCLUDED."window", s."window"),
        paused = coalesce(CAST(:paused AS boolean), s.paused), changed_at = clock_timestamp()
    """
)

RESET = text(
    'UPDATE carrier_setting SET rate = NULL, "window" = NULL, changed_at = clock_timestamp() WHERE name = :name'
)

LIMITS = text(
    """
    SELECT l.name AS "limit", coalesce(l.changed, l.rate) AS rate, l.rate AS in_file,
           (SELECT count(*) FROM batch b
             WHERE b.state IN ('queued', 'sending') AND l.name = ANY(string_to_array(b.carrier, '/'))) AS batches
      FROM carrier_limit l
     WHERE l.reported_at > clock_timestamp() - make_interval(secs => :fresh) ORDER BY l.name
    """
)

CHANGE_LIMIT = text("UPDATE carrier_limit SET changed = CAST(:rate AS float8) WHERE name = :name")

AVAILABLE = text("SELECT available FROM account WHERE id = :account")

GO = text("UPDATE send SET carrier = :carrier, send_at = clock_timestamp() WHERE id = :send AND state = 'scheduled'")
GO_BATCH = text("UPDATE batch SET due_at = clock_timestamp() WHERE send_id = :send AND state = 'waiting'")

OUTCOME = text(
    """
    SELECT m.status, m.carrier, m.reference, m.error, m.attempts, m.submitted_at, m.finished_at
      FROM batch b JOIN message m ON m.id > b.id AND m.id <= overlay(b.id::text placing 'ffff' from 33)::uuid
     WHERE b.send_id = :send
    """
)


def list_carriers(connection: Connection) -> Sequence[RowMapping]:
    """The state of each carrier as the live workers report it, and whether it is paused, which they follow."""
    return connection.execute(LIST, {"fresh": MAX_REPORT_AGE}).mappings().all()


def require(connection: Connection, name: str) -> None:
    """Raise Refused unless a worker has reported the carrier within the last day."""
    names = connection.execute(NAMES).scalars().all()
    if name not in names:
        available = f"There are: {', '.join(names)}." if names else "No worker has reported any: start the workers."
        raise Refused(f"There is no carrier {name}. {available}")


def change(
    connection: Connection,
    name: str,
    rate: float | None = None,
    window: int | None = None,
    paused: bool | None = None,
    *,
    reason: str | None = None,
    by: By | None = None,
) -> None:
    """Change the values that are not None."""
    require(connection, name)
    values = {"rate": rate, "window": window, "paused": paused}
    before = _settings(connection, name)
    connection.execute(CHANGE, {"name": name, **values})
    given = {setting: value for setting, value in values.items() if value is not None}
    what = "carrier.changed" if paused is None else "carrier.paused" if paused else "carrier.resumed"
    old = {setting: before.get(setting) for setting in given}
    record(connection, by, what, subject=name, before=old, after=given, reason=reason)


def reset(connection: Connection, name: str, *, reason: str | None = None, by: By | None = None) -> None:
    """Reset rate and window to the values in CARRIERS_FILE."""
    require(connection, name)
    before = _settings(connection, name)
    connection.execute(RESET, {"name": name})
    old = {setting: before.get(setting) for setting in ("rate", "window")}
    record(connection, by, "carrier.reset", subject=name, before=old, reason=reason)


def _settings(connection: Connection, name: str) -> dict[str, Any]:
    """The operator's settings of a carrier."""
    row = connection.execute(select(carrier_setting).where(carrier_setting.c.name == name)).mappings().one_or_none()
    return {} if row is None else dict(row)


def list_limits(connection: Connection) -> Sequence[RowMapping]:
    """The rate limits of sender IDs and prefixes that workers enforce; 0: lifted."""
    return connection.execute(LIMITS, {"fresh": MAX_REPORT_AGE}).mappings().all()


def change_limit(
    connection: Connection, name: str, rate: float | None, *, reason: str | None = None, by: By | None = None
) -> None:
    """Change the limit `sender ACME` or `prefix 254`; None resets it to the file's value, 0 lifts it."""
    rates = {row["limit"]: row["rate"] for row in list_limits(connection)}
    names = list(rates)
    if name not in rates:
        available = (
            f"There are: {', '.join(names)}." if names else "CARRIERS_FILE has no [[limits]], or no worker runs."
        )
        raise Refused(f"There is no limit {name}. {available}")
    connection.execute(CHANGE_LIMIT, {"name": name, "rate": rate})
    before, after = {"rate": rates[name]}, {"rate": rate}
    record(connection, by, "carrier_limit.changed", subject=name, before=before, after=after, reason=reason)


def prepare(connection: Connection, sender: str, topup_key: str, *, by: By | None = None) -> int:
    """Ensure that the test account exists, may send as `sender` and has credits. Returns its id.

    `topup_key` is the idempotency key of a top-up if one is needed.
    """
    try:
        account = find_account(connection, ACCOUNT)
    except Refused:
        account = create_account(connection, ACCOUNT, by=by)
    request_sender(connection, account, sender, by=by)
    decide_sender(connection, account, sender, "approved", by=by)
    if connection.execute(AVAILABLE, {"account": account}).scalar_one() < MIN_CREDITS:
        top_up(connection, account, TOP_UP_CREDITS, "tests of carriers", topup_key, by=by)
    return account


def release(connection: Connection, send: UUID, carrier: str) -> None:
    """Start the scheduled send now, restricted to one carrier."""
    connection.execute(GO, {"send": send, "carrier": carrier})
    connection.execute(GO_BATCH, {"send": send})


def outcome(connection: Connection, send: UUID) -> RowMapping | None:
    """The outcome of the send's single message; None while it waits."""
    return connection.execute(OUTCOME, {"send": send}).mappings().one_or_none()


def unreadable_receipts(
    connection: Connection, carrier: str | None, limit: int, before: int = 2**63 - 1
) -> list[dict[str, object]]:
    """Receipts that could not be parsed, newest first, older than the id `before`.

    They are as text, with `.` for non-printable octets, and in hex.
    """
    rows = connection.execute(UNREADABLE, {"carrier": carrier, "limit": limit, "before": before}).all()
    return [
        {
            "id": row.id,
            "carrier": row.carrier,
            "reason": row.reason,
            "received_at": row.received_at,
            "text": "".join(chr(octet) if 32 <= octet < 127 else "." for octet in bytes(row.octets)),
            "hex": bytes(row.octets).hex(),
        }
        for row in rows
    ]
