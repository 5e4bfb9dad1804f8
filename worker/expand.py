"""Expands group sends page by page into batches, a little ahead of what is being sent.

Memory and transaction size are those of one page, whatever the group's size. The row of the send is the cursor: the
batches, the cursor and the credits of contacts that dropped out change in one commit, so a page is expanded once.
"""

from typing import Any
from uuid import UUID

from sqlalchemy import Connection, Engine, Row, text

from shared import fair
from shared.crashpoints import crashpoint
from shared.database import transaction
from shared.events import add_of_sends
from shared.ids import new_batch_id
from shared.lifecycle import LANES, SendState
from shared.money import Entry, post
from shared.sendable import SENDABLE
from shared.suppressions import listed

BATCH_SIZE = 1000
"""Recipients of one batch."""
PAGE = 8 * BATCH_SIZE
AHEAD = 4
"""A send is expanded further when fewer batches than this are open."""

NEXT_SEND = text(
    f"""
    SELECT s.id, s.account_id, s.group_id, s.group_bound, s.expanded_to, s.unexpanded, s.segments, s.price, s.lane,
           s.sender_id, a.weight, a.turns[s.lane + 1] AS last_turn
      FROM send s JOIN account a ON a.id = s.account_id
     WHERE s.expanded_to IS NOT NULL AND s.state = 'expanding' AND s.open_batches < :ahead
       AND {SENDABLE}
     ORDER BY s.id LIMIT 1 FOR UPDATE OF s SKIP LOCKED
    """
)

CONTACTS = text(
    """
    SELECT position, phone FROM contact
     WHERE group_id = :group_id AND position > :expanded_to AND position <= :group_bound
     ORDER BY position LIMIT :page
    """
)

INSERT_BATCHES = text(
    """
    INSERT INTO batch (id, send_id, account_id, state, turn, size, recipients)
    SELECT id, :send, :account, 'queued', turn, size, recipients
      FROM unnest(CAST(:id AS uuid[]), CAST(:turn AS bigint[]), CAST(:size AS int[]), CAST(:recipients AS text[]))
           AS b (id, turn, size, recipients)
    """
)

MOVE_CURSOR = text(
    """
    UPDATE send
       SET expanded_to = CASE WHEN :over THEN NULL ELSE CAST(:position AS bigint) END,
           unexpanded = unexpanded - :expanded - :removed, open_batches = open_batches + :batches,
           suppressed = suppressed + :suppressed, removed = removed + :removed,
           accepted = accepted - :suppressed - :removed,
           state = CASE WHEN NOT :over THEN state
                        WHEN open_batches + :batches = 0 THEN CAST('completed' AS send_state)
                        ELSE CAST('sending' AS send_state) END,
           completed_at = CASE WHEN :over AND open_batches + :batches = 0 THEN clock_timestamp() END
     WHERE id = :send
    RETURNING state
    """
)

SET_TURN = text("UPDATE account SET turns[:place] = GREATEST(turns[:place], :turn) WHERE id = :account")


def expand(engine: Engine) -> list[UUID]:
    """Expand one page of the oldest group send that needs it. Returns the new batches; empty when none needed it."""
    with transaction(engine) as connection:
        send = connection.execute(NEXT_SEND, {"ahead": AHEAD}).one_or_none()
        if send is None:
            return []
        contacts = connection.execute(CONTACTS, {**send._asdict(), "page": PAGE}).all()
        phones = _not_suppressed(connection, send, [contact.phone for contact in contacts])
        over = len(contacts) < PAGE or contacts[-1].position == send.group_bound
        position = contacts[-1].position if contacts else send.group_bound
        removed = send.unexpanded - len(contacts) if over else 0
        suppressed = len(contacts) - len(phones)
        batches, turn = _insert_batches(connection, send, phones)
        state = connection.execute(
            MOVE_CURSOR,
            {
                "send": send.id,
                "over": over,
                "position": position,
                "expanded": len(contacts),
                "removed": removed,
                "batches": len(batches),
                "suppressed": suppressed,
            },
        ).scalar_one()
        if state == SendState.COMPLETED:
            add_of_sends(connection, [(send.account_id, send.id, state)])
        dropped = (suppressed + removed) * send.price
        post(connection, [Entry(send.account_id, "release", dropped, "send", send.id, position)])
        connection.execute(SET_TURN, {"place": send.lane + 1, "turn": turn, "account": send.account_id})
        crashpoint("expand.before_commit")
    crashpoint("expand.committed")
    return batches


def _not_suppressed(connection: Connection, send: Row[Any], phones: list[int]) -> list[str]:
    if not phones:
        return []
    opted_out = listed(connection, send.account_id, phones, LANES[send.lane], send.sender_id)
    return [str(phone) for phone in phones if phone not in opted_out]


def _insert_batches(connection: Connection, send: Row[Any], phones: list[str]) -> tuple[list[UUID], int]:
    turn = max(fair.clock(connection), send.last_turn)
    ids, turns, sizes, recipients = [], [], [], []
    for start in range(0, len(phones), BATCH_SIZE):
        page = phones[start : start + BATCH_SIZE]
        turn += fair.cost(len(page) * send.segments, send.lane, send.weight)
        ids.append(new_batch_id())
        turns.append(turn)
        sizes.append(len(page))
        recipients.append("\n".join(page))
    if ids:
        connection.execute(
            INSERT_BATCHES,
            {
                "send": send.id,
                "account": send.account_id,
                "id": ids,
                "turn": turns,
                "size": sizes,
                "recipients": recipients,
            },
        )
    return ids, turn
