"""Messages: lists, search, and the text, attempts and timeline of one message."""

from datetime import datetime
from functools import partial
from typing import Any
from uuid import UUID

from sqlalchemy import Connection

from api.auth.tokens import Caller
from api.commit.draft import encode
from api.endpoint import endpoint, json_response, key_of_request, need_scope, replica_reads, services
from api.http.csv import CSV_PAGE, export
from api.http.request import current_request
from api.http.responses import CsvResponse, JsonResponse
from api.idempotency import IdempotentResponse, once
from api.problems import Problem
from api.resources.messages.detail_schemas import EventsResponse, MessageDetailResponse
from api.resources.messages.paging import page_of_messages
from api.resources.messages.schemas import FoundMessageResponse, MessagePaging, MessageResponse, MessageSearch
from api.resources.messages.text import text_of_message, texts_of_messages
from api.resources.messages.timeline import history_of
from api.resources.sends.routes import READ_SCOPE, read_send
from api.schemas.paging import page_of
from shared.lifecycle import STORED_STATUSES, MessageStatus
from shared.messages.history import MessageRow, one_message
from shared.messages.representation import CSV_HEADER, csv_values, message_fields
from shared.sends.cancel_message import cancel_one


@endpoint(
    "GET", "/sends/<uuid:send_id>/messages", query=MessagePaging, response=page_of(MessageResponse), scope="sms:read"
)
def list_send_messages(caller: Caller, connection: Connection, send_id: UUID, query: dict[str, Any]) -> Any:
    """List the messages of a send in order; with `Accept: text/csv`, stream all of them as CSV.

    If you filter by `status`, a page may have fewer messages than `limit`, or none, although later pages have some.
    Continue until `next_cursor` is null.
    """
    send = read_send(connection, caller, send_id)
    if current_request().wants_csv:
        return _csv(caller, send_id, send["completed_at"])
    rows, cursor = page_of_messages(connection, caller.account_id, query, send_id)
    return json_response({"data": [message_fields(row) for row in rows], "next_cursor": cursor})


def _csv(caller: Caller, send_id: UUID, completed_at: datetime | None) -> CsvResponse:
    reads = replica_reads()

    def read(cursor: str | None) -> tuple[list[MessageRow], str | None]:
        query = {"limit": CSV_PAGE} | ({} if cursor is None else {"cursor": cursor})
        find = partial(page_of_messages, account=caller.account_id, query=query, send=send_id)
        return reads.read_before(completed_at, find)

    return export(f"{send_id}.csv", CSV_HEADER, read, csv_values)


@endpoint("GET", "/messages", query=MessageSearch, response=page_of(FoundMessageResponse), scope="sms:read")
def list_messages(caller: Caller, query: dict[str, Any]) -> Any:
    """List the account's messages, newest send first, with filters.

    If you filter, a page may have fewer messages than `limit`, or none, although later pages have some. Continue until
    `next_cursor` is null. A search is faster with `since` and `until`.
    """

    def find(connection: Connection) -> JsonResponse:
        rows, cursor = page_of_messages(connection, caller.account_id, query)
        found = [message_fields(row) for row in rows]
        if query["texts"]:
            texts = texts_of_messages(connection, rows)
            for shown, row in zip(found, rows, strict=True):
                shown["text"] = texts[row.id].text
        return json_response({"data": found, "next_cursor": cursor})

    return replica_reads().read_before(query.get("until"), find)


@endpoint("GET", "/messages/<uuid:message_id>", response=MessageDetailResponse, scope="sms:read")
def get_message(caller: Caller, connection: Connection, message_id: UUID) -> JsonResponse:
    """Show one message: its text as sent to this phone number, its attempts and its timeline.

    `submitted_at` and `answered_at` of an attempt are those of the whole window in which it was submitted.
    """
    row = _find(connection, caller, message_id)
    text = text_of_message(connection, row)._asdict()
    return json_response(message_fields(row) | text | history_of(connection, row))


@endpoint(
    "POST",
    "/messages/<uuid:message_id>/cancel",
    response=MessageResponse,
    errors=("state_conflict", "message_being_sent"),
    scope="sms:send",
)
def cancel_message(caller: Caller, message_id: UUID) -> IdempotentResponse:
    """Cancel one message not yet submitted to a carrier, and release its credits. Also needs the scope sms:read.

    While a worker sends others of its list, the response is 409 `message_being_sent`; try again a second later.
    """
    need_scope(caller, READ_SCOPE)
    key = key_of_request(caller, None)
    with services().engine.begin() as connection:
        return once(connection, key, lambda: encode(message_fields(_cancel(connection, caller, message_id))))


def _cancel(connection: Connection, caller: Caller, message_id: UUID) -> MessageRow:
    _find(connection, caller, message_id)
    cancel_one(connection, message_id)
    row = _find(connection, caller, message_id)
    if row.status not in STORED_STATUSES:
        detail = "A worker is sending this message, or others of its list, at the moment."
        raise Problem("message_being_sent", detail, headers={"Retry-After": "1"})
    if row.status != MessageStatus.CANCELED:
        raise Problem(
            "state_conflict", f"The message is {row.status} and cannot be canceled.", message_status=row.status
        )
    return row


@endpoint("GET", "/messages/<uuid:message_id>/events", response=EventsResponse, scope="sms:read")
def list_message_events(caller: Caller, connection: Connection, message_id: UUID) -> JsonResponse:
    """Show a message's timeline: acceptance, attempts, the carrier's responses, doubt and receipts."""
    row = _find(connection, caller, message_id)
    return json_response({"message_id": message_id, "data": history_of(connection, row)["timeline"]})


def _find(connection: Connection, caller: Caller, message_id: UUID) -> MessageRow:
    row = one_message(connection, caller.account_id, message_id)
    if row is None:
        raise Problem("message_not_found", f"Your account has no message {message_id}.")
    return row
