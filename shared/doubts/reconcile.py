"""Matches a carrier's report with the messages in doubt.

A row fits a message if carrier and phone agree and, if the row has them, sender and time. A doubt is resolved when
exactly one row fits it and that row fits no other message that the carrier has or may have; the rest is left to the
operator. Rows whose reference is already stored with a message are skipped: they are no evidence for another message.
"""

import csv
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple, TextIO

from sqlalchemy import Connection, Text, bindparam, cast, select

from shared.accounts.administration import Refused
from shared.db.expressions import in_parameter
from shared.db.tables.messages import doubt, message
from shared.doubts.candidates import MAX_VALIDITY, MessageCandidate, candidates
from shared.doubts.resolution import Resolution
from shared.lifecycle import MessageStatus

COLUMNS = {
    "reference": ("reference", "message_id", "id", "smsc_id"),
    "phone": ("phone", "destination", "to", "msisdn", "recipient"),
    "sender": ("sender", "sender_id", "from", "source"),
    "time": ("time", "submitted_at", "submit_time", "date", "sent_at"),
    "status": ("status", "state", "dlr"),
}
"""Accepted names of each column, case-insensitive."""
REQUIRED_COLUMNS = ("phone", "status")

STATUSES = {
    **dict.fromkeys(("delivered", "delivrd"), MessageStatus.DELIVERED),
    **dict.fromkeys(("sent", "accepted", "accepted_by_carrier", "acceptd", "enroute", "submitted"), MessageStatus.SENT),
    **dict.fromkeys(
        ("undelivered", "undeliv", "undeliverable", "expired", "deleted", "rejectd", "unknown"),
        MessageStatus.UNDELIVERED,
    ),
    **dict.fromkeys(("failed", "rejected", "not_sent", "not sent", "not_found", "refused"), MessageStatus.FAILED),
}
"""Statuses in reports; the abbreviations are those of SMPP 3.4 appendix B.

A message that the carrier accepted but could not deliver is charged; one that it never accepted is not.
"""

KNOWN_STATUSES = f"there are {', '.join(STATUSES)}"

DOUBTS = select(cast(doubt.c.phone, Text).label("phone"), doubt.c.submitted_at).where(
    doubt.c.carrier == bindparam("carrier")
)
KNOWN = select(message.c.reference, cast(message.c.phone, Text).label("phone")).where(
    in_parameter(message.c.reference, "references"), message.c.carrier == bindparam("carrier")
)
ERROR = "carrier_report"


class Row(NamedTuple):
    """One line of a report."""

    line: int
    reference: str | None
    phone: str
    sender: str | None
    time: datetime | None
    status: MessageStatus


@dataclass(slots=True)
class Matched:
    """The result of matching a report with the messages in doubt."""

    resolutions: list[Resolution] = field(default_factory=list)
    not_in_doubt: int = 0
    """Number of rows for messages that are not in doubt."""
    unmatched: int = 0
    """Number of rows that fit no doubt: answered messages without a reference, or messages of other senders."""
    ambiguous: list[int] = field(default_factory=list)
    """Lines that fit several messages, one of them in doubt, and lines that fit the same doubt as another."""
    unreadable: dict[int, str] = field(default_factory=dict)
    """Reason by line for rows that cannot be read."""
    left: int = 0
    """Number of messages still in doubt when those that match are resolved."""

    def statuses(self) -> Counter[str]:
        """Number of resolved doubts by status."""
        return Counter(resolution.status for resolution in self.resolutions)

    def as_dict(self, resolved: int, *, applied: bool, most: int | None = None) -> dict[str, Any]:
        """As the operator API and `bulksms reconcile --json` show it, with up to `most` lines of each kind."""
        unreadable = [{"line": line, "detail": why} for line, why in self.unreadable.items()]
        return {
            "matched": dict(self.statuses()),
            "resolved": resolved,
            "not_in_doubt": self.not_in_doubt,
            "unmatched": self.unmatched,
            "ambiguous_lines": self.ambiguous[:most],
            "unreadable_lines": unreadable[:most],
            "left_in_doubt": self.left if applied else self.left + len(self.resolutions),
        }


def match(connection: Connection, carrier: str, report: TextIO, within: timedelta) -> Matched:
    """Match a CSV report with the carrier's messages in doubt; times may differ by `within`. Changes nothing.

    Raises Refused for a file without the required columns.
    """
    result = Matched()
    rows = list(read(report, result))
    references = [row.reference for row in rows if row.reference]
    known = {
        (row.reference, row.phone) for row in connection.execute(KNOWN, {"references": references, "carrier": carrier})
    }
    fresh = [row for row in rows if (row.reference, row.phone) not in known]
    result.not_in_doubt = len(rows) - len(fresh)
    doubts = connection.execute(DOUBTS, {"carrier": carrier}).all()
    by_phone: dict[str, list[MessageCandidate]] = {}
    if doubts:
        phones = {doubt.phone for doubt in doubts} & {row.phone for row in fresh}
        since = min(doubt.submitted_at for doubt in doubts) - MAX_VALIDITY
        for candidate in candidates(connection, carrier, phones, since, refused=True):
            if (candidate.reference, candidate.phone) not in known:
                by_phone.setdefault(candidate.phone, []).append(candidate)
    fitting = {row.line: [each for each in by_phone.get(row.phone, []) if _fits(row, each, within)] for row in fresh}
    claims = Counter(candidate.message_id for fits in fitting.values() for candidate in fits)
    for row in fresh:
        fits = fitting[row.line]
        if not any(candidate.status == MessageStatus.IN_DOUBT for candidate in fits):
            result.unmatched += 1
        elif len(fits) > 1 or claims[fits[0].message_id] > 1:
            result.ambiguous.append(row.line)
        else:
            error = ERROR if row.status == MessageStatus.FAILED else None
            outcome = (fits[0].message_id, row.status, row.reference, error)
            result.resolutions.append(Resolution(*outcome, by="reconciliation"))
    result.left = len(doubts) - len(result.resolutions)
    return result


def _fits(row: Row, candidate: MessageCandidate, within: timedelta) -> bool:
    """Whether the row may be about the message. A message being submitted has no time yet."""
    at = candidate.submitted_at
    in_time = row.time is None or at is None or abs(row.time - at) <= within
    return in_time and candidate.sent_by(row.sender)


def read(report: TextIO, result: Matched) -> Iterator[Row]:
    """Yield the report's rows; those that cannot be read are recorded in `result.unreadable`."""
    reader = csv.DictReader(report)
    names = columns(reader.fieldnames or [])
    for fields in reader:
        value = {column: (fields.get(name) or "").strip() for column, name in names.items()}
        status = STATUSES.get(value["status"].lower())
        phone = value["phone"].removeprefix("+")
        time = value.get("time", "")
        try:
            at = parse_time(time) if time else None
        except ValueError:
            result.unreadable[reader.line_num] = f"{time[:40]!r} is not a time; write it like 2026-01-31T12:00:00Z"
            continue
        if not phone.isascii() or not phone.isdigit():
            result.unreadable[reader.line_num] = f"{value['phone'][:40]!r} is not a phone number"
        elif status is None:
            result.unreadable[reader.line_num] = f"{value['status'][:40]!r} is not a known status; {KNOWN_STATUSES}"
        else:
            yield Row(reader.line_num, value.get("reference") or None, phone, value.get("sender") or None, at, status)


def columns(header: Iterable[str]) -> dict[str, str]:
    """Map column names to those in the file's header. Raises Refused if a required column is missing."""
    header_names = {name.strip().lower().replace(" ", "_").lstrip("\ufeff"): name for name in header}
    in_file = {
        column: header_names[name]
        for column, names in COLUMNS.items()
        if (name := next(filter(header_names.get, names), None))
    }
    missing = [column for column in REQUIRED_COLUMNS if column not in in_file]
    if missing:
        raise Refused(f"The report's first line names no column for {' and '.join(missing)}. It needs: phone, status.")
    return in_file


def parse_time(text: str) -> datetime:
    """Parse an ISO 8601 time; without a zone it is UTC."""
    at = datetime.fromisoformat(text)
    return at if at.tzinfo else at.replace(tzinfo=UTC)
