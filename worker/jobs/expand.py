"""Expands group sends into batches, page by page, a little ahead of sending.

Memory and transaction size are those of one page, whatever the group's size. The send's row holds the cursor: the
batches, the cursor and the credits released for dropped contacts change in one commit, so each page is expanded once.
"""

from typing import Any
from uuid import UUID

from sqlalchemy import (
    BigInteger,
    Connection,
    Engine,
    Integer,
    Row,
    SmallInteger,
    Text,
    Uuid,
    bindparam,
    cast,
    column,
    func,
    insert,
    literal,
    select,
    text,
    update,
)
from sqlalchemy.dialects.postgresql import JSONB

from shared.crashpoints import crashpoint
from shared.db.connection import transaction
from shared.db.encryption_keys import texts_of
from shared.db.expressions import parameter_rows
from shared.db.tables.accounts import account
from shared.db.tables.base import batch_state
from shared.db.tables.contacts import contact
from shared.db.tables.money import ledger
from shared.db.tables.sends import batch
from shared.encryption import TextUnreadable
from shared.ids import new_batch_id
from shared.job_backoff import failures_of, is_ready, yields
from shared.job_failures import Job, attempt
from shared.ledger.ledger import Entry, post
from shared.ledger.spend_limits import free
from shared.lifecycle import BatchState, SendState
from shared.outbox import add_of_sends
from shared.prices.book import Prices
from shared.prices.price_table import PriceTable
from shared.sends import fair_queueing as fair
from shared.sends import send_states
from shared.sends.batch_prices import Chunk
from shared.sends.batch_states import BATCH_SIZE
from shared.sends.holding import FAULT, hold_for_operator, hold_unusable
from shared.sends.sendable import SENDABLE
from worker.jobs.expand_page import Page, common_page, personal_page
from worker.jobs.recipient_limits import RecipientLimits

PAGE = 8 * BATCH_SIZE
COMPOSED_PAGE = BATCH_SIZE
"""Contacts of a page whose messages are composed. That may take half a millisecond for each, and meanwhile its worker
sends nothing for others."""
ENOUGH_OPEN_BATCHES = 4
"""A send is expanded further while fewer batches than this are open and not being sent."""

NEXT_SEND = text(
    f"""
    WITH under_way AS MATERIALIZED (SELECT send_id, count(*) AS batches FROM batch WHERE state = 'sending' GROUP BY 1)
    SELECT s.id, s.account_id, s.group_id, s.group_bound, s.expanded_to, s.unexpanded, s.unexpanded_credits, s.segments,
           s.price, s.price_version_id, s.lane, s.sender_id, s.message, s.on_unicode, s.rules, a.weight,
           l.destinations, l.recipient_authentication, l.recipient_transactional, l.recipient_marketing,
           {failures_of("expansion", "s.id")} AS failures
      FROM send s JOIN account a ON a.id = s.account_id LEFT JOIN account_limit l ON l.account_id = s.account_id
     WHERE s.expanded_to IS NOT NULL AND s.state = 'expanding'
       AND (s.open_batches < :ahead OR s.id IN (SELECT u.send_id FROM under_way u))
       AND s.open_batches - coalesce((SELECT u.batches FROM under_way u WHERE u.send_id = s.id), 0) < :ahead
       AND {SENDABLE} AND {is_ready("expansion", "s.id")}
     ORDER BY {yields("expansion", "s.id")}, a.turns[s.lane + 1], s.id
     LIMIT 1 FOR UPDATE OF s SKIP LOCKED
    """
)
"""Locks the send to expand next, so that no page is expanded twice. Accounts take turns by the end of their last batch.

Batches being sent are counted first, by their own index: a send may have tens of thousands that were sent."""

CONTACTS = (
    select(*contact.c["position", "phone"])
    .where(
        contact.c.group_id == bindparam("group_id"),
        contact.c.position > bindparam("expanded_to"),
        contact.c.position <= bindparam("group_bound"),
    )
    .order_by(contact.c.position)
    .limit(bindparam("page"))
)
CONTACTS_WITH_FIELDS = CONTACTS.add_columns(contact.c.fields)
OWN = ("id", "turn", "size", "recipients", "segments", "price")
ROWS = parameter_rows("rows", *batch.c[OWN], column("variables", Text))
INSERT_BATCHES = insert(batch).from_select(
    ["send_id", "account_id", "lane", "state", *ROWS.c.keys()],
    select(
        bindparam("send", type_=Uuid),
        bindparam("account", type_=BigInteger),
        bindparam("lane", type_=SmallInteger),
        literal(BatchState.QUEUED, batch_state, literal_execute=True),
        *ROWS.c[OWN],
        cast(ROWS.c.variables, JSONB),
    ),
)
NEXT_STEP = select(func.greatest(func.max(ledger.c.step), 0) + 1).where(
    ledger.c.subject == bindparam("send"), ledger.c.kind == "release"
)
"""The ledger step of a page's release. The page's position would not do: positions have 64 bits."""
LAST_TURN = account.c.turns[bindparam("place", type_=Integer)]
LOCK_TURN = select(LAST_TURN).where(account.c.id == bindparam("account")).with_for_update(key_share=True)
"""Nothing else of the account is accepted until the page is stored, so no two of its batches get the same turn."""
SET_TURN = (
    update(account)
    .where(account.c.id == bindparam("account"))
    .values({LAST_TURN: func.greatest(LAST_TURN, bindparam("turn"))})
)


def expand(engine: Engine, limits: RecipientLimits | None = None, prices: Prices | None = None) -> list[UUID] | None:
    """Expand one page of a group send of the account whose turn it is. Returns the new batches, if any.

    Returns None if it failed, or if the page made no batches: another page may need to be expanded.

    Contacts that opted out or exceed the recipient `limits` are dropped. A send is held if its text was tampered with,
    or if its expansion fails repeatedly.
    """
    while True:
        with attempt(engine, "expansion", _set_aside) as job:
            try:
                return _expand(engine, limits, prices or Prices(engine), job)
            except TextUnreadable as unreadable:
                hold_unusable(engine, unreadable)
                continue
        return None


def _expand(engine: Engine, limits: RecipientLimits | None, prices: Prices, job: Job) -> list[UUID] | None:
    """Expand a page of the next send, as the `job`. Returns None if the page made no batches."""
    with transaction(engine) as connection:
        send = connection.execute(NEXT_SEND, {"ahead": ENOUGH_OPEN_BATCHES}).one_or_none()
        if send is None:
            return []
        job.begin(send.id, send.account_id, send.failures)
        batches, chunks = _expand_page(connection, send, limits, prices.table(send.price_version_id))
    crashpoint("expand.committed")
    if limits is not None:
        limits.add(send, chunks)
    return batches or None


def _set_aside(connection: Connection, send: str, _: str) -> None:
    hold_for_operator(connection, UUID(send), "crashes", FAULT)


def _expand_page(
    connection: Connection, send: Row[Any], limits: RecipientLimits | None, table: PriceTable
) -> tuple[list[UUID], list[Chunk]]:
    composed = send.on_unicode is not None
    size = min(PAGE, COMPOSED_PAGE) if composed else PAGE
    values = {**send._asdict(), "page": size}
    contacts = connection.execute(CONTACTS_WITH_FIELDS if composed else CONTACTS, values).all()
    page = (personal_page if composed else common_page)(connection, send, contacts, limits, table)
    position = contacts[-1].position if contacts else send.group_bound
    finished = len(contacts) < size or position == send.group_bound
    removed = send.unexpanded - page.phones if finished else 0
    batches, end = _insert_batches(connection, send, page.chunks)
    state = connection.execute(
        send_states.MOVE_CURSOR,
        {
            "send": send.id,
            "over": finished,
            "position": position,
            "expanded": page.phones,
            "removed": removed,
            "batches": len(batches),
            "suppressed": page.suppressed,
            "unfit": page.unfit,
            "credits": page.reserved,
        },
    ).scalar_one()
    if state == SendState.COMPLETED:
        add_of_sends(connection, [(send.account_id, send.id, state)])
    released = _credits_to_release(send, page, finished, removed)
    if released:
        step = connection.execute(NEXT_STEP, {"send": send.id}).scalar_one()
        post(connection, [Entry(send.account_id, "release", released, "send", send.id, step)])
        free(connection, send.account_id, send.id, released)
    connection.execute(SET_TURN, {"place": send.lane + 1, "turn": end, "account": send.account_id})
    crashpoint("expand.before_commit")
    return batches, page.chunks


def _credits_to_release(send: Row[Any], page: Page, finished: bool, removed: int) -> int:
    """What the page's contacts do not cost of their reserve and, after the last page, the rest of it."""
    rest = 0
    if finished:
        known = send.unexpanded_credits
        rest = removed * send.price if known is None else known - page.reserved
    return int(page.reserved - page.credits + rest)


def _insert_batches(connection: Connection, send: Row[Any], chunks: list[Chunk]) -> tuple[list[UUID], int]:
    texts, totals = texts_of(connection), []
    columns: dict[str, list[Any]] = {name: [] for name in (*OWN, "variables")}
    for chunk in chunks:
        totals.append(len(chunk.phones) * chunk.segments)
        batch = new_batch_id()
        columns["id"].append(batch)
        columns["size"].append(len(chunk.phones))
        columns["recipients"].append("\n".join(chunk.phones))
        columns["segments"].append(None if chunk.variables is None else chunk.segments)
        columns["price"].append(None if send.unexpanded_credits is None else chunk.price)
        columns["variables"].append(None if chunk.variables is None else texts.seal_json(chunk.variables, batch))
    clock = fair.clock(connection)
    end = max(clock, connection.execute(LOCK_TURN, {"place": send.lane + 1, "account": send.account_id}).scalar_one())
    for total in totals:
        columns["turn"].append(fair.turn(end, total, send.lane, send.weight))
        end += fair.virtual_time(total, send.lane, send.weight)
    if chunks:
        connection.execute(INSERT_BATCHES, {"send": send.id, "account": send.account_id, "lane": send.lane, **columns})
    return columns["id"], end
