"""Inbound messages."""

from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Connection, exists, func, select

from api.auth.tokens import Caller
from api.endpoint import endpoint
from api.http.bounded_queries import filtered_page
from api.resources.inbound.schemas import InboundPaging, InboundResponse
from api.schemas.paging import newest_id
from shared.db.encryption_keys import texts_of
from shared.db.tables import inbound as tables
from shared.ids import first_id_at

INBOUND = tables.inbound.c
NEWER = tables.inbound.alias("newer")
FIELDS = (
    *INBOUND["id", "phone", "sender_id", "message", "keyword", "segments", "missing", "carrier"],
    INBOUND.received_at,
)


@endpoint("GET", "/inbound", query=InboundPaging, pages=newest_id(InboundResponse), scope="sms:read")
def list_inbound_messages(
    caller: Caller, connection: Connection, query: dict[str, Any], before: UUID, limit: int
) -> Any:
    """List the messages that phones sent to the account's numbers, newest first."""
    indexed, filters = _conditions(caller.account_id, query)
    listed = select(*FIELDS).where(*indexed, INBOUND.id < before)
    rows, end = filtered_page(connection, listed, [INBOUND.id], filters, limit, newest_first=True)
    texts = texts_of(connection)
    return [{**row._mapping, "message": texts.open(row.message, row.id)} for row in rows], end


def _conditions(account: int, query: dict[str, Any]) -> tuple[list[ColumnElement[bool]], list[ColumnElement[bool]]]:
    """The conditions on the list: those that an index serves, and those for which rows must be examined."""
    indexed = [INBOUND.account_id == account]
    if "since" in query:
        indexed.append(INBOUND.id >= first_id_at(query["since"]))
    if "until" in query:
        indexed.append(INBOUND.id < first_id_at(query["until"]))
    if "phone" in query:
        indexed.append(INBOUND.phone == query["phone"])
    filters = []
    if "sender_id" in query:
        filters.append(func.lower(INBOUND.sender_id) == func.lower(query["sender_id"]))
    if "keyword" in query:
        filters.append(INBOUND.keyword == query["keyword"])
    if query.get("latest"):
        newer = NEWER.c.account_id == account, NEWER.c.phone == INBOUND.phone, NEWER.c.id > INBOUND.id
        filters.append(~exists().where(*newer))
    return indexed, filters
