"""The audit log of changes to rights and money: who changed what, from where, with the values before and after.

Entries are written in the transaction of the change, and are append-only like the ledger.
"""

import getpass
import json
import os
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from sqlalchemy import Connection, Text, Uuid, bindparam, case, cast, func, insert, literal, or_, select
from sqlalchemy.dialects.postgresql import JSONB

from shared.db.tables.accounts import account, audit_log
from shared.db.tables.people import person
from shared.ids import LAST_NUMBER

RECORD = insert(audit_log).values(
    before=cast(bindparam("values_before", type_=Text), JSONB), after=cast(bindparam("values_after", type_=Text), JSONB)
)

PERSON_ID = case((audit_log.c.actor.like("person %"), cast(func.substr(audit_log.c.actor, len("person ") + 1), Uuid)))
"""The person who made a change, so that an index finds them; NULL if it was somebody else."""
LIST = select(
    *audit_log.c["id", "at", "account_id"],
    account.c.name.label("account"),
    audit_log.c.actor,
    person.c.name.label("actor_name"),
    *audit_log.c["action", "subject", "before", "after", "reason", "request_id", "address"],
).select_from(
    audit_log.outerjoin(account, account.c.id == audit_log.c.account_id).outerjoin(person, person.c.id == PERSON_ID)
)


class Actor(NamedTuple):
    """The actor of a change, and its API request, if any.

    Actors are `key smsk_live_…`, `person 0190…`, `operator key opk_…`, `operator alice` (a user of the command line)
    and `worker`.
    """

    name: str
    request_id: str | None = None
    address: str | None = None


WORKER = Actor("worker")


def operator() -> Actor:
    """The operating system user of this process as the actor."""
    try:
        return Actor(f"operator {getpass.getuser()}")
    except (OSError, KeyError):  # in a container the user may have no name
        return Actor(f"operator {os.getuid()}")


def record(
    connection: Connection,
    by: Actor | None,
    action: str,
    *,
    account_id: int | None = None,
    subject: object = None,
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
    reason: str | None = None,
) -> None:
    """Record a change in the connection's transaction.

    `action` is the kind of change, such as `key.created`, and `subject` the id of the changed object. `before` and
    `after` are the changed values, never a secret, a phone or the text of a message. Default of `by`: the operator.
    """
    connection.execute(RECORD, _row(by or operator(), action, account_id, subject, before, after, reason))


def record_each(
    connection: Connection, by: Actor | None, action: str, changed: Iterable[tuple[int, object]], reason: str
) -> None:
    """Record the same change of several objects, each with its account."""
    by = by or operator()
    rows = [_row(by, action, account, subject, None, None, reason) for account, subject in changed]
    if rows:
        connection.execute(RECORD, rows)


def _row(
    by: Actor,
    action: str,
    account_id: int | None,
    subject: object,
    before: Mapping[str, Any] | None,
    after: Mapping[str, Any] | None,
    reason: str | None,
) -> dict[str, Any]:
    return {
        "account_id": account_id,
        "actor": by.name,
        "action": action,
        "subject": None if subject is None else str(subject),
        "values_before": None if before is None else json.dumps(before, default=str),
        "values_after": None if after is None else json.dumps(after, default=str),
        "reason": reason,
        "request_id": by.request_id,
        "address": by.address,
    }


def list_changes(
    connection: Connection,
    *,
    account_id: int | None = None,
    actor: str | None = None,
    action: str | None = None,
    before: int = LAST_NUMBER,
    limit: int = 50,
) -> list[dict[str, Any]]:
    """Changes older than the id `before`, newest first.

    `actor` is the actor or a person's name, and `action` the beginning of the kind of change: `key`, or `key.revoked`.
    """
    chosen = LIST.where(audit_log.c.id < before).order_by(audit_log.c.id.desc()).limit(limit)
    if account_id is not None:
        chosen = chosen.where(audit_log.c.account_id == account_id)
    if actor is not None:
        named = select(literal("person ") + cast(person.c.id, Text)).where(person.c.name == actor)
        chosen = chosen.where(or_(audit_log.c.actor == actor, audit_log.c.actor.in_(named)))
    if action is not None:
        chosen = chosen.where(audit_log.c.action.startswith(action, autoescape=True))
    return [dict(row) for row in connection.execute(chosen).mappings()]
