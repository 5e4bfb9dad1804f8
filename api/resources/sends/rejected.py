"""The recipients of a send that were not accepted, as its response listed them."""

from typing import Any
from uuid import UUID

from sqlalchemy import Connection, bindparam, select

from api.auth.tokens import Caller
from api.endpoint import endpoint
from api.resources.sends.routes import read_send
from api.resources.sends.schemas import RejectedRecipientsResponse
from shared.db.tables.sends import send_rejection

ENTRIES = select(send_rejection.c.entries).where(send_rejection.c.send_id == bindparam("send"))


@endpoint("GET", "/sends/<uuid:send_id>/rejected", response=RejectedRecipientsResponse, scope="sms:read")
def list_rejected_recipients(caller: Caller, connection: Connection, send_id: UUID) -> Any:
    """List the recipients that were not accepted, each with the reason.

    They are those that the response to the send has listed. Recipients that are left out later, when a send to a group
    starts, are only counted. The list is deleted with the send's text.
    """
    read_send(connection, caller, send_id, encrypted=True)
    return {"data": connection.execute(ENTRIES, {"send": send_id}).scalar_one_or_none() or []}
