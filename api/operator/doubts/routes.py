"""Messages in doubt: list and resolve them, by hand or by a carrier's report."""

import csv
import hashlib
from datetime import timedelta
from io import StringIO
from typing import Any
from uuid import UUID

from sqlalchemy import Connection

from api.act_once import act_once
from api.auth.operator_tokens import Operator
from api.endpoint import operator_endpoint
from api.http.json_body import LARGE_BODY
from api.http.uploaded_file import CSV_TYPES, check_media_type, chunks_of_file, not_csv, open_file
from api.idempotency import IdempotentResponse
from api.operator.doubts.schemas import (
    DoubtPaging,
    DoubtResponse,
    ReportOptions,
    ReportResponse,
    ResolvedResponse,
    Resolving,
    ResolvingSend,
)
from api.problems import Problem
from api.schemas.paging import by_id
from shared.accounts.audit_log import Actor
from shared.accounts.refused import Refused
from shared.contacts.text_stream import SUBSTITUTE
from shared.doubts import by_operator
from shared.doubts.reconcile import match
from shared.sends.overview import show_send
from shared.sms.phones import mask

MAX_SHOWN = 100


@operator_endpoint("GET", "/doubts", query=DoubtPaging, pages=by_id(DoubtResponse, "message_id"), scope="read")
def list_doubts(caller: Operator, connection: Connection, query: dict[str, Any], after: UUID, limit: int) -> Any:
    """List the messages in doubt, oldest first. Full phone numbers require the scope `texts`."""
    send, carrier, whole = query.get("send_id"), query.get("carrier"), "texts" in caller.scopes
    rows = by_operator.list_doubts(connection, send_id=send, carrier=carrier, after=after, limit=limit)
    return rows if whole else [{**row, "phone": mask(row["phone"])} for row in rows]


@operator_endpoint("POST", "/doubts/resolve", body=Resolving, response=ResolvedResponse, scope="doubt")
def resolve_doubts(connection: Connection, by: Actor, body: dict[str, Any]) -> Any:
    """Resolve messages in doubt as the carrier reports them, all in one transaction.

    `sent` and `delivered` charge the messages; `not-sent` releases their credits. Messages that are no longer in doubt
    are left alone and listed in `not_in_doubt`.
    """
    return _resolve(connection, by, body, body["message_ids"], None)


@operator_endpoint(
    "POST", "/sends/<uuid:send_id>/resolve-doubts", body=ResolvingSend, response=ResolvedResponse, scope="doubt"
)
def resolve_doubts_of_send(connection: Connection, by: Actor, send_id: UUID, body: dict[str, Any]) -> Any:
    """Resolve all messages in doubt of a send as the carrier reports them, in one transaction."""
    if show_send(connection, send_id) is None:
        raise Problem("not_found", f"There is no send {send_id}.")
    return _resolve(connection, by, body, [], send_id)


def _resolve(
    connection: Connection, by: Actor, body: dict[str, Any], message_ids: list[UUID], send_id: UUID | None
) -> Any:
    result = by_operator.resolve_doubts(
        connection, body["outcome"], message_ids, send_id, reason=body.get("reason"), by=by
    )
    if not result.messages:
        raise Problem("state_conflict", "None of these messages is in doubt.")
    return {"resolved": result.messages, "not_in_doubt": result.others}


@operator_endpoint(
    "POST",
    "/doubts/reconcile",
    query=ReportOptions,
    response=ReportResponse,
    errors=("payload_too_large", "unsupported_media_type"),
    scope="doubt",
)
def reconcile_doubts(caller: Operator, by: Actor, query: dict[str, Any]) -> IdempotentResponse:
    """Match a carrier's report with the messages in doubt and, with `apply=true`, resolve those that match.

    The report is CSV with the columns phone and status, and if possible reference, sender and time. A doubt is
    resolved when exactly one row fits it and that row fits no other message.
    """
    check_media_type(CSV_TYPES, LARGE_BODY)
    report = "".join(chunks_of_file(open_file(LARGE_BODY)))
    if SUBSTITUTE in report:
        raise not_csv("The file contains a NUL character.")
    digest = hashlib.sha256(report.encode()).hexdigest()

    def reconcile(connection: Connection) -> Any:
        try:
            result = match(
                connection, query["carrier"], StringIO(report, newline=""), timedelta(seconds=query["within_seconds"])
            )
        except Refused as refused:
            raise not_csv(refused.reason) from None
        except csv.Error as error:
            raise not_csv(f"The file is not CSV: {error}.") from None
        resolved = by_operator.apply_report(connection, query["carrier"], result, by=by) if query["apply"] else 0
        return result.as_dict(resolved, applied=query["apply"], most=MAX_SHOWN)

    return act_once(caller, {"sha256": digest, **query}, reconcile)
