"""The carriers of a running installation as its workers report them, and the settings that can be changed live.

Changes are recorded in the audit log, and workers follow them within two seconds and drop no connection.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from math import isinf
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, Integer, RowMapping, bindparam, func, select, text, update

from shared.accounts.administration import Refused, create_account, find_account
from shared.accounts.audit_log import Actor, record
from shared.accounts.sandbox import CARRIER_TEST
from shared.accounts.top_ups import top_up
from shared.db.expressions import last_message_id
from shared.db.tables import sends
from shared.db.tables.accounts import account
from shared.db.tables.carriers import carrier_limit, carrier_report, carrier_setting
from shared.db.tables.messages import message, unreadable_receipt
from shared.db.tables.prices import price
from shared.ids import LAST_NUMBER
from shared.lifecycle import BatchState, SendState
from shared.senders.sender_ids import decide_sender, request_sender
from shared.sends.sendable import AWAITS_CARRIER, MAX_REPORT_AGE, MESSAGES_LEFT

MAX_RATE = 100_000
"""Segments per second of a carrier, a sender ID or a prefix."""
SENDER, TEXT = "TEST", "Test"
"""Of test messages, unless others are given."""
TOP_UP_SEGMENTS, MIN_SEGMENTS = 100, 20
"""The test account is topped up when it can pay for fewer than the minimum at DEAREST; no message has more than 20."""
DEAREST = select(func.greatest(func.max(price.c.price), 1))

LIST = text(
    f"""
    WITH recent AS (
        SELECT * FROM carrier_report WHERE reported_at > clock_timestamp() - make_interval(secs => :fresh)
    ), waiting AS (
        SELECT coalesce(split_part(b.carrier, '/', 1), o.carrier) AS carrier, count(*) AS batches,
               sum({MESSAGES_LEFT})::bigint AS messages
          FROM batch b JOIN send s ON s.id = b.send_id
          LEFT JOIN (SELECT min(carrier) AS carrier FROM recent HAVING count(DISTINCT carrier) = 1) o
               ON b.state = 'queued' AND NOT s.test
         WHERE b.state = 'queued' OR {AWAITS_CARRIER}
         GROUP BY 1
    )
    SELECT r.carrier,
           CASE WHEN bool_or(s.paused) THEN 'paused'
                WHEN bool_or(r.state = 'ready') THEN 'ready'
                ELSE (array_agg(r.state ORDER BY r.since DESC))[1] END AS state,
           max(r.error) AS error, count(*) AS workers, count(*) FILTER (WHERE r.state = 'ready') AS ready,
           max(r.rate) AS rate, min(r.allowed) AS allowed, max(r."window") AS "window",
           sum(r.submitted)::bigint AS submitted,
           sum(r.throttled)::bigint AS throttled, sum(r.failed)::bigint AS failed,
           coalesce(max(w.batches), 0) AS batches, coalesce(max(w.messages), 0) AS messages,
           max(r.since) AS since, coalesce(bool_or(s.paused), false) AS paused,
           jsonb_agg(r.answer_times) AS response_times,
           jsonb_agg(r.receipt_delays) AS receipt_delays
      FROM recent r LEFT JOIN carrier_setting s ON s.name = r.carrier LEFT JOIN waiting w ON w.carrier = r.carrier
     GROUP BY r.carrier ORDER BY r.carrier
    """
)
"""The reports of live workers, a row per carrier: ready if any worker is, otherwise in the state that changed last.
What is queued waits for the only carrier, if there is only one."""

REPORTS, SETTINGS, LIMIT = carrier_report.c, carrier_setting.c, carrier_limit.c
SENDS, BATCHES, MESSAGES = sends.send.c, sends.batch.c, message.c
NAMES = (
    select(REPORTS.carrier)
    .where(REPORTS.reported_at > func.clock_timestamp() - timedelta(days=1))
    .group_by(REPORTS.carrier)
    .order_by(REPORTS.carrier)
)

RECEIPTS = unreadable_receipt.c
UNREADABLE = (
    select(*RECEIPTS["id", "carrier", "reason", "received_at", "octets"])
    .where(RECEIPTS.id < bindparam("before"))
    .order_by(RECEIPTS.id.desc())
    .limit(bindparam("limit", type_=Integer))
)
OF_CARRIER = RECEIPTS.carrier == bindparam("carrier")

CHANGE = text(
    """
    INSERT INTO carrier_setting AS s (name, rate, "window", paused)
    VALUES (:name, :rate, :window, coalesce(CAST(:paused AS boolean), false))
    ON CONFLICT (name) DO UPDATE SET
        rate = coalesce(EXCLUDED.rate, s.rate), "window" = coalesce(EXCLUDED."window", s."window"),
        paused = coalesce(CAST(:paused AS boolean), s.paused), changed_at = clock_timestamp()
    """
)
"""One statement, so that of two operators who change different settings at once neither undoes the other's."""

RESET = (
    update(carrier_setting)
    .where(SETTINGS.name == bindparam("carrier"))
    .values(rate=None, window=None, changed_at=func.clock_timestamp())
)

LIMITS = text(
    """
    SELECT l.name AS "limit", coalesce(l.changed, l.rate) AS rate, l.rate AS in_file,
           (SELECT count(*) FROM batch b
             WHERE (b.state = 'queued' OR b.state = 'sending')
               AND l.name = ANY(string_to_array(b.carrier, '/'))) AS batches
      FROM carrier_limit l
     WHERE l.reported_at > clock_timestamp() - make_interval(secs => :fresh) ORDER BY l.name
    """
)
"""A batch's queue is its carrier and the limits that apply to it, `smsc/sender ACME/prefix 254`."""

RATES = (
    select(LIMIT.name, func.coalesce(LIMIT.changed, LIMIT.rate).label("rate"))
    .where(LIMIT.reported_at > func.clock_timestamp() - timedelta(seconds=MAX_REPORT_AGE))
    .order_by(LIMIT.name)
)
CHANGE_LIMIT = update(carrier_limit).where(LIMIT.name == bindparam("limit")).values(changed=bindparam("new_rate"))

AVAILABLE = select(account.c.available).where(account.c.id == bindparam("account"))

GO = (
    update(sends.send)
    .where(SENDS.id == bindparam("send_id"), SENDS.state == SendState.SCHEDULED)
    .where(SENDS.send_at > func.clock_timestamp())
    .values(carrier=bindparam("only_carrier"), send_at=func.clock_timestamp())
)
GO_BATCH = (
    update(sends.batch)
    .where(BATCHES.send_id == bindparam("send"), BATCHES.state == BatchState.WAITING)
    .values(due_at=func.clock_timestamp())
)

OUTCOME = (
    select(*MESSAGES["status", "carrier", "reference", "error", "attempts", "submitted_at", "finished_at"])
    .where(BATCHES.send_id == bindparam("send"))
    .where(MESSAGES.id > BATCHES.id, MESSAGES.id <= last_message_id(BATCHES.id))
)
Buckets = Mapping[str, int]
"""Delays by bucket, which is named by its upper bound in seconds, as in Prometheus' label `le`: `0.5`, or `+Inf`."""


def list_carriers(connection: Connection) -> list[dict[str, Any]]:
    """The state of each carrier as the live workers report it, and whether it is paused, which they follow.

    With how long half and 99 % of its responses and receipts of the last minutes took at most; None if there were none.
    """
    carriers = [dict(row) for row in connection.execute(LIST, {"fresh": MAX_REPORT_AGE}).mappings()]
    for carrier in carriers:
        responses = sum_of(carrier.pop("response_times") or ())
        receipts = sum_of(carrier.pop("receipt_delays") or ())
        for name, share in (("p50", 0.5), ("p99", 0.99)):
            seconds = quantile(share, responses)
            carrier[f"response_{name}_ms"] = None if seconds is None else round(1000 * seconds)
            delay = quantile(share, receipts)
            carrier[f"receipt_{name}_seconds"] = None if delay is None else round(delay, 1)
    return carriers


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
    by: Actor | None = None,
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


def reset(connection: Connection, name: str, *, reason: str | None = None, by: Actor | None = None) -> None:
    """Reset rate and window to the values in CARRIERS_FILE."""
    require(connection, name)
    before = _settings(connection, name)
    connection.execute(RESET, {"carrier": name})
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
    connection: Connection, name: str, rate: float | None, *, reason: str | None = None, by: Actor | None = None
) -> None:
    """Change the limit `sender ACME` or `prefix 254`; None resets it to the file's value, 0 lifts it."""
    rates = {row.name: row.rate for row in connection.execute(RATES)}
    names = list(rates)
    if name not in rates:
        available = (
            f"There are: {', '.join(names)}." if names else "CARRIERS_FILE has no [[limits]], or no worker runs."
        )
        raise Refused(f"There is no limit {name}. {available}")
    connection.execute(CHANGE_LIMIT, {"limit": name, "new_rate": rate})
    before, after = {"rate": rates[name]}, {"rate": rate}
    record(connection, by, "carrier_limit.changed", subject=name, before=before, after=after, reason=reason)


def prepare(connection: Connection, sender: str, topup_key: str, *, by: Actor | None = None) -> int:
    """Ensure that the test account exists, may send as `sender` and has credits. Returns its id.

    `topup_key` is the idempotency key of a top-up if one is needed.
    """
    try:
        account = find_account(connection, CARRIER_TEST)
    except Refused:
        account = create_account(connection, CARRIER_TEST, by=by)
    request_sender(connection, account, sender, by=by)
    decide_sender(connection, account, sender, "approved", by=by)
    dearest = connection.execute(DEAREST).scalar_one()
    if connection.execute(AVAILABLE, {"account": account}).scalar_one() < MIN_SEGMENTS * dearest:
        top_up(connection, account, TOP_UP_SEGMENTS * dearest, "tests of carriers", topup_key, by=by)
    return account


def start_test(connection: Connection, send: UUID, carrier: str, *, by: Actor | None = None) -> None:
    """Start the scheduled send of a test now, restricted to one carrier; one that has started stays as it is."""
    if connection.execute(GO, {"send_id": send, "only_carrier": carrier}).rowcount:
        connection.execute(GO_BATCH, {"send": send})
        record(connection, by, "carrier.tested", subject=carrier, after={"send_id": send})


def outcome(connection: Connection, send: UUID) -> RowMapping | None:
    """The outcome of the send's single message; None while it waits."""
    return connection.execute(OUTCOME, {"send": send}).mappings().one_or_none()


def unreadable_receipts(
    connection: Connection, carrier: str | None, limit: int, before: int = LAST_NUMBER
) -> list[dict[str, object]]:
    """Receipts that could not be parsed, newest first, older than the id `before`.

    They are as text, with `.` for non-printable octets, and in hex.
    """
    chosen = UNREADABLE if carrier is None else UNREADABLE.where(OF_CARRIER)
    rows = connection.execute(chosen, {"carrier": carrier, "limit": limit, "before": before}).all()
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


def sum_of(counted: Iterable[Buckets]) -> Buckets:
    """What several processes have counted."""
    total: Counter[str] = Counter()
    for buckets in counted:
        total.update(buckets)
    return total


def quantile(share: float, buckets: Buckets) -> float | None:
    """The seconds that this share of the delays does not exceed; None if none was counted.

    Within a bucket delays are taken to be spread evenly, and what is longer than the last bound to be as long as it.
    """
    wanted, low = share * sum(buckets.values()), 0.0
    if not wanted:
        return None
    for high, count in sorted((float(bound), count) for bound, count in buckets.items()):
        if count and (wanted <= count or isinf(high)):
            return low if isinf(high) else low + (high - low) * wanted / count
        wanted, low = wanted - count, high
    return low
