"""Matches a carrier's report with the messages in doubt.

A row of the report is a doubt's, when carrier, phone and, where the row has them, sender and time agree, and when there
is exactly one such row for exactly one such message, of all that the carrier has or may have. All else is left to a
person. Rows of messages that have their carrier's reference already are known, and no evidence for another message.
"""

import csv
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import NamedTuple, TextIO

from sqlalchemy import Connection, text

from shared.accounts.administration import Refused
from shared.lifecycle import MessageStatus
from worker.receipts.candidates import LONGEST_VALIDITY, Candidate, candidates
from worker.receipts.in_doubt import Resolution

COLUMNS = {
    "reference": ("reference", "message_id", "id", "smsc_id"),
    "phone": ("phone", "destination", "to", "msisdn", "recipient"),
    "sender": ("sender", "sender_id", "from", "source"),
    "time": ("time", "submitted_at", "submit_time", "date", "sent_at"),
    "status": ("status", "state", "dlr"),
}
"""What each column may be called, in any case."""
NEEDED = ("phone", "status")

STATUSES = {
    **dict.fromkeys(("delivered", "delivrd"), MessageStatus.DELIVERED),
    **dict.fromkeys(("sent", "accepted", "accepted_by_carrier", "acceptd", "enroute", "submitted"), MessageStatus.SENT),
    **dict.fromkeys(
        ("undelivered", "undeliv", "undeliverable", "expired", "deleted", "rejectd", "unknown"),
        MessageStatus.UNDELIVERED,
    ),
    **dict.fromkeys(("failed", "rejected", "not_sent", "not sent", "not_found", "refused"), MessageStatus.FAILED),
}
"""What a carrier's word says of a message. The short ones are those of a receipt's text (SMPP 3.4 appendix B). A
message that a carrier took and then could not deliver is charged, one that it never took is not."""

DOUBTS = text("SELECT CAST(phone AS text) AS phone, submitted_at FROM doubt WHERE carrier = :carrier")
KNOWN = text(
    "SELECT reference, CAST(phone AS text) AS phone FROM message"
    " WHERE reference = ANY(:references) AND carrier = :carrier"
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
    """What a report says of the messages in doubt."""

    resolutions: list[Resolution] = field(default_factory=list)
    known: int = 0
    """Rows of messages that are not in doubt."""
    elsewhere: int = 0
    """Rows that fit no doubt: of messages that had their answer without a reference, or that are not ours."""
    ambiguous: list[int] = field(default_factory=list)
    """Lines that fit several messages, one of them in doubt, or a doubt that several lines fit."""
    bad: dict[int, str] = field(default_factory=dict)
    """Lines that cannot be read, and why."""
    left: int = 0
    """Messages that are still in doubt."""

    def statuses(self) -> Counter[str]:
        """How many doubts end in which status."""
        return Counter(resolution.status for resolution in self.resolutions)


def match(connection: Connection, carrier: str, report: TextIO, within: timedelta) -> Matched:
    """Match a CSV report with the carrier's messages in doubt; their times may differ by `within`.

    Raises Refused for a file without the columns that are needed. Nothing is changed.
    """
    made = Matched()
    rows = list(read(report, made))
    references = [row.reference for row in rows if row.reference]
    known = {
        (row.reference, row.phone) for row in connection.execute(KNOWN, {"references": references, "carrier": carrier})
    }
    fresh = [row for row in rows if (row.reference, row.phone) not in known]
    made.known = len(rows) - len(fresh)
    doubts = connection.execute(DOUBTS, {"carrier": carrier}).all()
    by_phone: dict[str, list[Candidate]] = {}
    if doubts:
        phones = {doubt.phone for doubt in doubts} & {row.phone for row in fresh}
        since = min(doubt.submitted_at for doubt in doubts) - LONGEST_VALIDITY
        for candidate in candidates(connection, carrier, phones, since, refused=True):
            if (candidate.reference, candidate.phone) not in known:
                by_phone.setdefault(candidate.phone, []).append(candidate)
    fitting = {row.line: [each for each in by_phone.get(row.phone, []) if _fits(row, each, within)] for row in fresh}
    claims = Counter(candidate.message_id for found in fitting.values() for candidate in found)
    for row in fresh:
        found = fitting[row.line]
        if not any(candidate.status == MessageStatus.IN_DOUBT for candidate in found):
            made.elsewhere += 1
        elif len(found) > 1 or claims[found[0].message_id] > 1:
            made.ambiguous.append(row.line)
        else:
            error = ERROR if row.status == MessageStatus.FAILED else None
            result = (found[0].message_id, row.status, row.reference, error)
            made.resolutions.append(Resolution(*result, by="reconciliation"))
    made.left = len(doubts) - len(made.resolutions)
    return made


def _fits(row: Row, candidate: Candidate, within: timedelta) -> bool:
    """Whether the row may be about the message. One that is under way has no time yet."""
    at = candidate.submitted_at
    in_time = row.time is None or at is None or abs(row.time - at) <= within
    return in_time and candidate.sent_by(row.sender)


def read(report: TextIO, made: Matched) -> Iterator[Row]:
    """The report's rows; those that cannot be read are noted in `made`."""
    reader = csv.DictReader(report)
    names = columns(reader.fieldnames or [])
    for fields in reader:
        value = {column: (fields.get(name) or "").strip() for column, name in names.items()}
        status = STATUSES.get(value["status"].lower())
        phone = value["phone"].removeprefix("+")
        time = value.get("time", "")
        try:
            at = moment(time) if time else None
        except ValueError:
            made.bad[reader.line_num] = f"{time[:40]!r} is not a time; write it like 2026-01-31T12:00:00Z"
            continue
        if not phone.isascii() or not phone.isdigit():
            made.bad[reader.line_num] = f"{value['phone'][:40]!r} is not a phone"
        elif status is None:
            made.bad[reader.line_num] = f"{value['status'][:40]!r} is not a known status"
        else:
            yield Row(reader.line_num, value.get("reference") or None, phone, value.get("sender") or None, at, status)


def columns(header: Iterable[str]) -> dict[str, str]:
    """The name in the file of each of our columns that it has. Raises Refused when one that is needed is missing."""
    known = {name.strip().lower().replace(" ", "_").lstrip("\ufeff"): name for name in header}
    found = {column: known[name] for column, names in COLUMNS.items() if (name := next(filter(known.get, names), None))}
    missing = [column for column in NEEDED if column not in found]
    if missing:
        raise Refused(f"The report's first line names no column for {' and '.join(missing)}. It needs: phone, status.")
    return found


def moment(text: str) -> datetime:
    """A time of ISO 8601; UTC where it names no zone."""
    at = datetime.fromisoformat(text)
    return at if at.tzinfo else at.replace(tzinfo=UTC)
