"""A message as the API shows it."""

from typing import Any

from api.schemas.fields import timestamp
from shared.carriers.error_codes import error_of
from shared.messages.history import MessageRow
from shared.sms.countries import PREFIX_DIGITS, country_of


def message_fields(row: MessageRow) -> dict[str, Any]:
    """The fields of MessageResponse."""
    return {
        "message_id": str(row.id),
        "send_id": str(row.send_id),
        "phone": row.phone,
        "status": row.status,
        "sender_id": row.sender_id,
        "segments": row.segments,
        "cost": row.cost,
        "category": row.category,
        "carrier": row.carrier,
        "country": row.phone and country_of(row.phone[:PREFIX_DIGITS]),
        "group_id": row.group_id and str(row.group_id),
        "error": error_of(row.status, row.error, row.carrier),
        "reference": row.reference,
        "test": row.test,
        "submitted_at": timestamp(row.submitted_at),
        "finished_at": timestamp(row.finished_at),
        "created_at": timestamp(row.created_at),
    }
