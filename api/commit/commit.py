"""Store accepted sends: the send, its batches, the reserve and the idempotency key, in one durable transaction."""

import json
from collections.abc import Iterator
from typing import Any

import psycopg
from sqlalchemy import Connection

from api import idempotency
from api.commit.draft import MAX_INLINE_ENTRIES, Draft, encode
from api.commit.send_response import response_body
from shared.crashpoints import crashpoint
from shared.db.connection import driver_of
from shared.ids import new_batch_id
from shared.ledger import spend_limits as spending
from shared.ledger.ledger import ADD_LOW_BALANCE, RESERVE_SENDS, RESERVED, ReserveRefused
from shared.ledger.spend_limits import COUNT, SpendLimitReached
from shared.sends import fair_queueing as fair
from shared.sends.recipient_references import add_references

REQUIRED_COLUMNS = {
    "id": "uuid",
    "account_id": "bigint",
    "api_key_id": "text",
    "kind": "text",
    "state": "send_state",
    "test": "boolean",
    "sender_id": "text",
    "message": "text",
    "encoding": "text",
    "characters": "integer",
    "segments": "smallint",
    "price": "bigint",
    "price_version_id": "bigint",
    "lane": "smallint",
    "expires_at": "timestamptz",
    "open_batches": "integer",
    "submitted": "integer",
    "accepted": "integer",
    "created_at": "timestamptz",
}
"""Columns set for every send, and their types."""
OPTIONAL_COLUMNS = {
    "reference": "text",
    "metadata": "jsonb",
    "rate": "integer",
    "callback_url": "text",
    "smpp": "jsonb",
    "dlr_mask": "smallint",
    "request_id": "text",
    "traceparent": "text",
    "rules": "jsonb",
    "send_at": "timestamptz",
    "group_id": "uuid",
    "group_bound": "bigint",
    "on_unicode": "text",
    "verification_id": "uuid",
}
"""Columns that are null unless the draft has a value."""
COUNT_COLUMNS = {"duplicate": "integer", "invalid": "integer", "suppressed": "integer", "unexpanded": "integer"}
"""Columns that are 0 for most sends."""
ALL_COLUMNS = (
    REQUIRED_COLUMNS
    | OPTIONAL_COLUMNS
    | COUNT_COLUMNS
    | {"expanded_to": "bigint", "cost": "bigint", "unexpanded_credits": "bigint"}
)

ACCEPTING = f"""
WITH new_send AS (
    INSERT INTO send ({{names}})
    SELECT {{values}} FROM json_to_recordset(%(sends)s::json) AS s ({{typed}})
    RETURNING id, account_id, coalesce(cost, price * accepted::bigint) AS cost
), queue AS (
    SELECT coalesce({fair.CLOCK_FROM}, {fair.IDLE_CLOCK}) AS clock
), owner AS MATERIALIZED (
    SELECT id, weight, turns FROM account WHERE id IN (SELECT account_id FROM new_send) ORDER BY id FOR NO KEY UPDATE
), numbered AS (
    SELECT i.*, CASE WHEN i.state = 'queued' THEN GREATEST(q.clock, a.turns[i.lane + 1])
                + sum(GREATEST(1, i.cost / a.weight)) FILTER (WHERE i.state = 'queued')
                      OVER (PARTITION BY i.account, i.lane ORDER BY i.place) END AS ends,
           GREATEST(1, i.cost / a.weight)
                - GREATEST(1, LEAST(i.cost, (ARRAY{fair.FIRST_COSTS})[i.lane + 1]) / a.weight) AS rest
      FROM ROWS FROM (json_to_recordset(%(batches)s::json)
                      AS (id uuid, send uuid, account bigint, lane int, cost bigint, state batch_state,
                          due_at timestamptz, size smallint, recipients text))
           WITH ORDINALITY AS i (id, send, account, lane, cost, state, due_at, size, recipients, place)
      JOIN owner a ON a.id = i.account CROSS JOIN queue q
), new_batch AS (
    INSERT INTO batch (id, send_id, account_id, lane, state, turn, due_at, size, recipients)
    SELECT id, send, account, lane, state, coalesce(ends - rest, 0), due_at, size, recipients FROM numbered
), new_entry AS (
    {RESERVE_SENDS}
), paid AS (
    UPDATE account a
       SET {RESERVED},
           turns = {fair.RAISED_TURNS}
      FROM (SELECT account_id, sum(cost) AS cost FROM new_send GROUP BY account_id) d
      LEFT JOIN (SELECT account, {fair.LAST_ENDS} FROM numbered GROUP BY account) t ON t.account = d.account_id
     WHERE a.id = d.account_id
    RETURNING a.id, a.available + a.credit_limit AS available, a.available + a.credit_limit + d.cost AS before,
              a.low_balance_threshold AS threshold, a.spend_day, a.spend_month
), spent AS ({COUNT}
), low AS (
    {ADD_LOW_BALANCE.format(ids="%(events)s::json")}
)
SELECT id, available, (SELECT clock FROM queue) FROM paid
"""
"""The statement, with the columns of `send` left open."""


def _with(columns: dict[str, str]) -> str:
    return ACCEPTING.format(
        names=", ".join(columns),
        values=", ".join(f"coalesce({name}, 0)" if name in COUNT_COLUMNS else name for name in columns),
        typed=", ".join(f"{name} {kind}" for name, kind in columns.items()),
    )


ACCEPT, ACCEPT_PLAIN = _with(ALL_COLUMNS), _with(REQUIRED_COLUMNS)
ACCEPT_OVER_SMPP = _with({**REQUIRED_COLUMNS, "smpp": OPTIONAL_COLUMNS["smpp"]})
"""Store each send, queue its batches in fair order and reserve its cost; or fail without effect if a constraint would
be violated, because no account owes more than its credit limit. A single statement keeps the time short for which the
account's row is locked before the commit reaches the disk. Each column takes time in Postgres, and most sends need only
the REQUIRED_COLUMNS, over SMPP with one more."""
REFUSALS = {"available": ReserveRefused, spending.REFUSAL: SpendLimitReached}
"""Exceptions by the column or constraint that is violated: a low balance or an account that may not send, and a spend
limit."""

LOCK_ACCOUNTS = "SELECT FROM account WHERE id = ANY(%s) ORDER BY id FOR NO KEY UPDATE"
"""Not FOR UPDATE, which would conflict with every insert of a row that references the account, and could deadlock."""
SET_OWN_PRICES = """
UPDATE batch b SET segments = p.segments, price = p.price, variables = p.variables::jsonb
  FROM unnest(%s::uuid[], %s::smallint[], %s::bigint[], %s::text[]) AS p (id, segments, price, variables)
 WHERE b.id = p.id
"""
"""For batches whose texts or prices differ. With placeholders: the segments of each text, and what they stand for."""
INSERT_REJECTIONS = "INSERT INTO send_rejection (send_id, entries) VALUES (%s, %s::jsonb)"
"""Recipients that were refused, for the list that the send shows afterwards."""


def commit_sends(connection: Connection, drafts: list[Draft], clock: fair.CachedClock | None = None) -> list[str]:
    """Store the drafts and reserve their cost, in the connection's transaction. Returns the response body of each.

    Raises ReserveRefused if an account cannot pay for all its drafts; the transaction must then be rolled back.
    """
    driver = driver_of(connection)
    accounts = sorted({draft.account_id for draft in drafts})
    if len(accounts) > 1:
        driver.execute(LOCK_ACCOUNTS, (accounts,))
    for draft in drafts:
        if draft.also is not None:
            draft.response = draft.also(connection, draft)
        if draft.references is not None:  # before the account's row is locked, as there may be many
            add_references(connection, draft.account_id, draft.own_references())
    left = accept_rows(driver, drafts, clock or fair.CachedClock())
    for draft in drafts:
        if draft.rejected:
            driver.execute(INSERT_REJECTIONS, (draft.id, json.dumps(draft.rejected[:MAX_INLINE_ENTRIES])))
        if draft.messages_differ and draft.chunks is not None:
            driver.execute(SET_OWN_PRICES, (draft.batch_ids, *map(list, zip(*draft.own_prices(), strict=True))))
    responses = responses_of(drafts, left)
    keyed = [(draft.key, answer) for draft, answer in zip(drafts, responses, strict=True) if draft.key is not None]
    if keyed:
        idempotency.store(connection, keyed)
    crashpoint("accept.before_commit")
    return responses


def accept_rows(driver: "psycopg.Connection[Any]", drafts: list[Draft], clock: fair.CachedClock) -> dict[int, int]:
    """Store and queue the drafts and reserve their cost. Returns the remaining balance by account.

    Raises ReserveRefused, or its subclass SpendLimitReached.
    """
    accounts = {draft.account_id for draft in drafts}
    rows = [_send_row(draft) for draft in drafts]
    more = set().union(*rows) - REQUIRED_COLUMNS.keys()
    statement = ACCEPT if more - {"smpp"} else ACCEPT_OVER_SMPP if more else ACCEPT_PLAIN
    begin = clock.begin()
    parameters = {
        "clock": begin,
        "sends": encode(rows),
        "batches": encode([row for draft in drafts for row in _batch_rows(draft)]),
        "events": encode({str(account): new_batch_id() for account in accounts}),
    }
    try:
        paid = driver.execute(statement, parameters, prepare=True).fetchall()
    except (psycopg.errors.NotNullViolation, psycopg.errors.CheckViolation) as error:
        violated = error.diag.constraint_name or error.diag.column_name or ""
        refused: type[ReserveRefused] | None = REFUSALS.get(violated)
        if refused is None:
            raise
        raise refused(accounts) from None
    clock.note(begin, paid[0][2])
    return {account: available for account, available, _ in paid}


def responses_of(drafts: list[Draft], left: dict[int, int]) -> list[str]:
    """The response body of each draft, with the balance after that draft."""
    responses: list[str] = []
    for draft in reversed(drafts):
        responses.append(response_body(draft, left[draft.account_id]))
        left[draft.account_id] += draft.cost
    responses.reverse()
    return responses


def _send_row(draft: Draft) -> dict[str, Any]:
    """The columns of a send's row: REQUIRED_COLUMNS, and the others that are not null or 0."""
    row = {
        "id": draft.id,
        "account_id": draft.account_id,
        "api_key_id": draft.api_key_id,
        "kind": draft.kind,
        "state": draft.state,
        "test": draft.test,
        "sender_id": draft.sender_id,
        "message": draft.stored_message,
        "encoding": draft.segmentation.encoding,
        "characters": draft.segmentation.characters,
        "segments": draft.segmentation.count,
        "price": draft.price,
        "price_version_id": draft.price_version_id,
        "lane": draft.lane,
        "expires_at": draft.expires_at,
        "open_batches": len(draft.batch_ids),
        "submitted": draft.submitted,
        "accepted": draft.accepted,
        "created_at": draft.created_at,
    }
    for name in OPTIONAL_COLUMNS:
        value = getattr(draft, name)
        if value is not None:
            row[name] = value
    if draft.rejected or draft.incomplete:
        row |= {name: count for name, count in draft.counts().items() if name not in REQUIRED_COLUMNS}
    if draft.group_id is not None:
        row |= {"expanded_to": 0, "unexpanded": draft.accepted}
    if draft.messages_differ:
        row["cost"] = draft.cost
        if draft.group_id is not None:
            row["unexpanded_credits"] = draft.cost
    return row


def _batch_rows(draft: Draft) -> Iterator[dict[str, Any]]:
    state, due_at = ("waiting", draft.send_at) if draft.send_at else ("queued", draft.created_at)
    for batch, (phones, segments) in zip(draft.batch_ids, draft.slices(), strict=True):
        yield {
            "id": batch,
            "send": draft.id,
            "account": draft.account_id,
            "lane": draft.lane,
            "cost": fair.virtual_time(len(phones) * segments, draft.lane),
            "state": state,
            "due_at": due_at,
            "size": len(phones),
            "recipients": "\n".join(phones),
        }
