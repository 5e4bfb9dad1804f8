"""Messages as the API and the files of exports show them."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

import orjson

from shared.carriers.error_codes import carrier_code_of, code_of, error_of
from shared.contacts.csv_lines import csv_line
from shared.ids import rfc3339
from shared.messages.history import MessageRow
from shared.sms.countries import PREFIX_DIGITS, country_of

CSV_HEADER = (
    *("message_id", "phone", "status", "segments", "cost", "error", "submitted_at", "finished_at", "error_code"),
    *("carrier", "reference", "send_id", "sender_id", "category", "country", "created_at"),
)


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
        "country": _country(row),
        "group_id": row.group_id and str(row.group_id),
        "error": error_of(row.status, row.error, row.carrier),
        "reference": row.reference,
        "test": row.test,
        "submitted_at": _time(row.submitted_at),
        "finished_at": _time(row.finished_at),
        "created_at": _time(row.created_at),
    }


def csv_values(row: MessageRow) -> tuple[object, ...]:
    """The cells of CSV_HEADER."""
    return (
        row.id,
        row.phone,
        row.status,
        row.segments,
        row.cost,
        carrier_code_of(row.status, row.error) or row.error,
        _time(row.submitted_at),
        _time(row.finished_at),
        code_of(row.status, row.error),
        row.carrier,
        row.reference,
        row.send_id,
        row.sender_id,
        row.category,
        _country(row),
        _time(row.created_at),
    )


def csv_of(rows: Iterable[MessageRow], header: bool) -> str:
    """Lines of CSV with the columns of CSV_HEADER, which may come first."""
    return "".join(map(csv_line, [*([CSV_HEADER] if header else []), *map(csv_values, rows)]))


def json_lines_of(rows: Iterable[MessageRow]) -> str:
    """A line of JSON for each message."""
    return "".join(orjson.dumps(message_fields(row)).decode() + "\n" for row in rows)


def _country(row: MessageRow) -> str | None:
    return row.phone and country_of(row.phone[:PREFIX_DIGITS])


def _time(moment: datetime | None) -> str | None:
    return None if moment is None else rfc3339(moment)
