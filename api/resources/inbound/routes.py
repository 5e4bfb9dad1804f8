"""Inbound messages."""

from typing import Any

from sqlalchemy import text

from api.auth.tokens import Caller
from api.endpoint import endpoint, services
from api.http.bounded_queries import last_examined, reading_list
from api.http.pagination import page, uuid_cursor
from api.resources.inbound.schemas import InboundPaging, InboundResponse
from api.schemas.paging import page_of
from shared.db.encryption_keys import texts_of
from shared.encryption import Texts
from shared.ids import first_id_at

EXAMINED = text(
    """
    SELECT id FROM inbound
     WHERE account_id = :account
       AND (CAST(:before AS uuid) IS NULL OR id < :before)
       AND (CAST(:since AS uuid) IS NULL OR id >= :since)
       AND (CAST(:until AS uuid) IS NULL OR id < :until)
       AND (CAST(:phone AS text) IS NULL OR phone = :phone)
     ORDER BY id DESC OFFSET :most LIMIT 1
    """
)
INBOUND = text(
    """
    SELECT id, phone, sender_id, message, keyword, segments, missing, carrier, received_at FROM inbound
     WHERE account_id = :account
       AND (CAST(:before AS uuid) IS NULL OR id < :before)
       AND (CAST(:since AS uuid) IS NULL OR id >= :since)
       AND (CAST(:until AS uuid) IS NULL OR id < :until)
       AND (CAST(:phone AS text) IS NULL OR phone = :phone)
       AND (CAST(:sender AS text) IS NULL OR lower(sender_id) = lower(:sender))
       AND (CAST(:keyword AS text) IS NULL OR keyword = :keyword)
     ORDER BY id DESC LIMIT :limit
    """
)

INBOUND_MESSAGE = InboundResponse()


@endpoint(
    "GET",
    "/inbound",
    query=InboundPaging,
    response=page_of(InboundResponse),
    errors=("validation_failed",),
    scope="sms:read",
)
def inbound(caller: Caller, query: dict[str, Any]) -> Any:
    """List the messages that phones sent to the account's numbers, newest first."""
    parameters = {
        "account": caller.account_id,
        "before": uuid_cursor(query.get("cursor")),
        "since": first_id_at(query["since"]) if "since" in query else None,
        "until": first_id_at(query["until"]) if "until" in query else None,
        "phone": query.get("phone"),
        "sender": query.get("sender_id"),
        "keyword": query.get("keyword"),
        "limit": query["limit"] + 1,
    }
    with reading_list(services().engine) as connection:
        end = last_examined(connection, EXAMINED, parameters) if query.keys() & {"sender_id", "keyword"} else None
        if end is not None:
            parameters["since"] = end.id
        rows = connection.execute(INBOUND, parameters).all()
        texts = texts_of(connection)
    return page(rows, query["limit"], lambda row: _inbound(row, texts), lambda row: str(row.id), end)


def _inbound(row: Any, texts: Texts) -> Any:
    return INBOUND_MESSAGE.dump({**row._mapping, "message": texts.open(row.message, row.id)})
