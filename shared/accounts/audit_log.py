"""The log of all changes of rights and money: who changed what, the values before and after, and from where.

Entries are written in the transaction of the change, and are append-only like the ledger.
"""

import getpass
import json
import os
from collections.abc import Mapping
from typing import Any, NamedTuple

from sqlalchemy import Connection, text

RECORD = text(
    """
    INSERT INTO change (account_id, who, what, subject, before, after, reason, request_id, address)
    VALUES (:account, :who, :what, :subject, CAST(:before AS jsonb), CAST(:after AS jsonb), :reason, :request_id,
            :address)
    """
)


class By(NamedTuple):
    """Who makes a change: `key smsk_live_…`, `operator alice` or `worker`, and by which request, if any."""

    who: str
    request_id: str | None = None
    address: str | None = None


WORKER = By("worker")


def operator() -> By:
    """The operator who runs this process, by the system's user name."""
    try:
        return By(f"operator {getpass.getuser()}")
    except (OSError, KeyError):  # a container's user needs no name
        return By(f"operator {os.getuid()}")


def record(
    connection: Connection,
    by: By | None,
    what: str,
    *,
    account_id: int | None = None,
    subject: object = None,
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
    reason: str | None = None,
) -> None:
    """Log a change, in the connection's transaction.

    `what` names the type of object and the change, such as `key.created`; `subject` is the object's id. `before` and
    `after` are the changed values, never a secret, a phone or a message's text. Without `by` it is the operator.
    """
    by = by or operator()
    connection.execute(
        RECORD,
        {
            "account": account_id,
            "who": by.who,
            "what": what,
            "subject": None if subject is None else str(subject),
            "before": None if before is None else json.dumps(before, default=str),
            "after": None if after is None else json.dumps(after, default=str),
            "reason": reason,
            "request_id": by.request_id,
            "address": by.address,
        },
    )
