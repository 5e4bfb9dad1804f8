"""Validate each opt-out of a request separately, so that the valid ones can be accepted."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from sqlalchemy import Connection, bindparam, func, literal, select

from api.commit.draft import MAX_INLINE_ENTRIES
from api.http.csv import PROBLEM
from api.problems import Problem
from api.resources.suppressions.schemas import MAX_REASON_LENGTH
from shared.contacts.suppressions import Scope, Suppression, report_suppressed, suppress_all
from shared.db.one_at_a_time import one_at_a_time
from shared.db.tables.contacts import suppression as suppressions
from shared.lifecycle import Category
from shared.senders.sender_ids import NO_SENDER_ID, form_of
from shared.sms.numbering import Numbering, is_valid
from shared.sms.phones import QUOTED_CHARACTERS, is_phone

MAX_OPT_OUTS = 10_000_000
"""Entries of one account. Opt-outs by STOP are stored even above it."""
COUNT = select(func.count()).select_from(
    select(literal(1)).where(suppressions.c.account_id == bindparam("account")).limit(bindparam("most")).subquery()
)
"""At most `most`. A million take a tenth of a second."""


class OptOut(NamedTuple):
    """An opt-out as given: the phone, the reason, and the category and sender ID that it applies to."""

    phone: object
    reason: str
    category: str = ""
    sender_id: str = ""
    problem: str = ""
    """What is wrong with the row of a file."""


def of_csv(row: dict[str, str]) -> OptOut:
    """The opt-out in a CSV row with the columns phone, reason, category and sender_id.

    A category or sender ID that there cannot be is left out, so that the phone is opted out of everything.
    """
    category, sender_id = row.get("category", "").lower(), row.get("sender_id", "")
    scope = category if category in list(Category) else "", sender_id if form_of(sender_id) else ""
    reason = row.get("reason", "import")[:MAX_REASON_LENGTH]
    return OptOut(row.get("phone", ""), reason, *scope, row.get(PROBLEM, ""))


class OptOuts(NamedTuple):
    """Validated entries, each once, and the rejected ones."""

    accepted: set[Suppression]
    submitted: int
    duplicate: int
    rejected: list[dict[str, object]]
    as_shown: frozenset[Suppression] = frozenset()
    """The same phones as international digits, where these are a national number, too: both are opted out, as this API
    shows phones without a plus sign."""


def read_opt_outs(entries: Iterable[OptOut], numbering: Numbering) -> OptOuts:
    """Separate valid opt-outs from invalid entries. Takes up to 0.1 ms per entry: do not call it in a transaction."""
    accepted = set[Suppression]()
    rejected: list[dict[str, object]] = []
    as_shown = set[Suppression]()
    submitted = 0
    for index, entry in enumerate(entries):
        submitted += 1
        phone = numbering.read(entry.phone) if isinstance(entry.phone, str) else None
        wrong = _wrong(entry, phone, numbering)
        if wrong is not None or phone is None:
            shown = entry.phone[:QUOTED_CHARACTERS] if isinstance(entry.phone, str) else None
            rejected.append({"index": index, "phone": shown, **(wrong or {})})
            continue
        suppression = Suppression(int(phone), entry.category, entry.sender_id, entry.reason)
        accepted.add(suppression)
        written = str(entry.phone)
        if written != phone and is_phone(written) and is_valid(written):
            as_shown.add(suppression._replace(phone=int(written)))
    duplicate = submitted - len(rejected) - len(accepted)
    return OptOuts(accepted, submitted, duplicate, rejected, frozenset(as_shown))


def put(connection: Connection, account_id: int, read: OptOuts) -> dict[str, Any]:
    """Add the opt-outs to the list, with a single event for all of them.

    Returns the response: counts, and the rejected entries. Raises Problem suppression_limit.
    """
    added = suppress_all(connection, account_id, read.accepted)
    if read.as_shown:
        suppress_all(connection, account_id, read.as_shown)
    if added:
        _check_size(connection, account_id)
        _record_event(connection, account_id, added, read.accepted)
    return {
        "counts": {
            "submitted": read.submitted,
            "added": added,
            "unchanged": len(read.accepted) - added,
            "duplicate": read.duplicate,
            "invalid": len(read.rejected),
        },
        "rejected": read.rejected[:MAX_INLINE_ENTRIES],
        **({"rejected_truncated": True} if len(read.rejected) > MAX_INLINE_ENTRIES else {}),
    }


def _check_size(connection: Connection, account_id: int) -> None:
    """Raise Problem suppression_limit if the account has too many, with those that this transaction has added.

    Waits until others that were checked before have committed theirs, so that they are counted.
    """
    one_at_a_time(connection, "suppressions", account_id)
    if connection.execute(COUNT, {"account": account_id, "most": MAX_OPT_OUTS + 1}).scalar_one() > MAX_OPT_OUTS:
        raise Problem("suppression_limit", f"An account has at most {MAX_OPT_OUTS:,} opt-outs.")


def _record_event(connection: Connection, account_id: int, added: int, accepted: set[Suppression]) -> None:
    phones, reasons = {each.phone for each in accepted}, {each.reason for each in accepted}
    scopes = {Scope(each.category, each.sender_id) for each in accepted}
    phone = str(*phones) if len(phones) == 1 else None
    reason = next(iter(reasons)) if len(reasons) == 1 else None
    report_suppressed(connection, account_id, added, phone, reason, next(iter(scopes)) if len(scopes) == 1 else None)


def _wrong(entry: OptOut, phone: str | None, numbering: Numbering) -> dict[str, str] | None:
    if not isinstance(entry.phone, str):
        return {"code": "invalid_phone", "detail": 'Write the phone number as a string, such as "254711000000".'}
    if entry.problem:
        return {"code": "invalid", "detail": entry.problem}
    if phone is None:
        return numbering.problem(entry.phone)
    if entry.category and entry.category not in list(Category):
        return {"code": "invalid", "detail": f"There is no category {entry.category[:QUOTED_CHARACTERS]!r}."}
    if entry.sender_id and form_of(entry.sender_id) is None:
        return {"code": "invalid", "detail": NO_SENDER_ID}
    if len(entry.reason) > MAX_REASON_LENGTH:
        return {"code": "invalid", "detail": f"A reason has at most {MAX_REASON_LENGTH} characters."}
    return None
