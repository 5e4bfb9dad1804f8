"""Imports contacts from a CSV file of any size, chunk by chunk, holding one chunk in memory."""

import csv
import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO
from uuid import UUID

from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn
from sqlalchemy import Engine, bindparam, select

from bulksms.output import messages
from shared.accounts.administration import Refused
from shared.contacts.charsets import USUAL_CHARSETS, encoding_named
from shared.contacts.columns import NoContacts
from shared.contacts.csv import ContactReader, RejectedRow
from shared.contacts.groups import put_contacts, remove_contacts
from shared.contacts.text_stream import LineTooLong, NotText, WrongEncoding, text_chunks
from shared.db.connection import reading, transaction
from shared.db.tables.accounts import account
from shared.db.tables.contacts import contact_group
from shared.sms.numbering import Numbering, numbering_of

BLOCK = 64 * 1024
"""Bytes read at a time."""
MAX_SHOWN = 20

COUNTRY = (
    select(account.c.country)
    .join(contact_group, contact_group.c.account_id == account.c.id)
    .where(contact_group.c.id == bindparam("group"))
)


@dataclass(slots=True)
class Report:
    """The result of an import."""

    added: int = 0
    changed: int = 0
    """Contacts whose fields or tags changed."""
    known: int = 0
    """Contacts that were already in the group unchanged, and repeated phones."""
    rejected: int = 0
    first_bad: list[RejectedRow] = field(default_factory=list)


def import_contacts(
    engine: Engine,
    group_id: UUID,
    file: Path,
    errors: Path | None = None,
    charset: str | None = None,
    phone_column: str | None = None,
) -> Report:
    """Add the file's contacts to the group, and write rejected rows to `errors`. Shows progress.

    `charset` is the file's encoding; default: UTF-8, or UTF-16. `phone_column` names the column of the phones.

    Raises Refused for an unknown group, a file that is not CSV, and `errors` that is the same file. Chunks already
    imported stay in the group.
    """
    if errors is not None and errors.exists() and errors.samefile(file):
        raise Refused(f"{errors} is the file to import. Name another one for rejected rows.")
    report = Report()
    encoding = encoding_named(charset) if charset else None
    if charset and encoding is None:
        raise Refused(f"There is no charset {charset!r}. Use {', '.join(USUAL_CHARSETS)}.")
    with ExitStack() as stack:
        progress = stack.enter_context(_progress())
        stream = stack.enter_context(progress.open(file, "rb"))
        error_writer = csv.writer(stack.enter_context(_writing(errors))) if errors else None
        if error_writer:
            error_writer.writerow(["line", "value", "detail"])
        reader = ContactReader(_numbering(engine, group_id), phone_column=phone_column)
        try:
            for chunk, last in _with_last(text_chunks(iter(lambda: stream.read(BLOCK), b""), encoding)):
                for rejected in _import_chunk(engine, group_id, reader, chunk, last, report):
                    if len(report.first_bad) < MAX_SHOWN:
                        report.first_bad.append(rejected)
                    if error_writer:
                        error_writer.writerow((rejected.line, rejected.value, rejected.detail))
        except WrongEncoding as problem:
            reason, _, _ = str(problem).partition(". ")
            advice = "Save the file as CSV in UTF-8, or use --charset windows-1252."
            raise Refused(f"{file} is not CSV in {charset or 'UTF-8'}. {reason}. {advice}") from None
        except (NoContacts, NotText, LineTooLong) as problem:
            detail = problem.with_values() if isinstance(problem, NoContacts) else str(problem)
            raise Refused(f"{file} is not CSV of contacts. {detail}") from None
    return report


@contextmanager
def _writing(path: Path) -> Iterator[TextIO]:
    """A file for rejected rows. Raises Refused if it cannot be written."""
    try:
        with open(path, "w", newline="", encoding="utf-8", opener=_privately) as file:
            yield file
    except OSError as error:
        raise Refused(f"{path} cannot be written: {error.strerror}.") from error


def _privately(path: str, flags: int) -> int:
    """Open a file that only its owner can read, also if it exists."""
    descriptor = os.open(path, flags, 0o600)
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.fchmod(descriptor, 0o600)
    return descriptor


def _import_chunk(
    engine: Engine, group_id: UUID, reader: ContactReader, chunk: str, last: bool, report: Report
) -> list[RejectedRow]:
    contacts, rejected = reader.read(chunk, last)
    with transaction(engine) as connection:
        put = put_contacts(connection, group_id, list({contact.phone: contact for contact in contacts}.values()))
        if reader.opted_out:
            remove_contacts(connection, group_id, reader.opted_out)
    report.added += put.added
    report.changed += put.changed
    report.known += len(contacts) - put.added - put.changed
    report.rejected += len(rejected)
    return rejected


def _numbering(engine: Engine, group_id: UUID) -> Numbering:
    with reading(engine) as connection:
        return numbering_of(connection.execute(COUNTRY, {"group": group_id}).scalar())


def _with_last(chunks: Iterator[str]) -> Iterator[tuple[str, bool]]:
    """Yield each chunk, and whether it is the last."""
    previous = next(chunks, None)
    for chunk in chunks:
        if previous is not None:
            yield previous, False
        previous = chunk
    if previous is not None:
        yield previous, True


def _progress() -> Progress:
    return Progress(
        TextColumn("Importing"),
        BarColumn(),
        DownloadColumn(),
        TimeRemainingColumn(),
        console=messages(),
        transient=True,
    )
