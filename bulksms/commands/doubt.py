"""`bulksms doubt`."""

from typing import TextIO
from uuid import UUID

import click
from sqlalchemy import Connection

from bulksms.environment import database
from bulksms.output import done, json_option, messages, show_rows
from shared.accounts.administration import Refused
from shared.doubts import by_operator
from shared.plurals import counted

MAX_SHOWN = 5
_HEADERS = {"submitted_at": "submitted_no_later_than"}


@click.group()
def doubt() -> None:
    """Messages in doubt: the carrier may or may not have them. They are not sent again automatically."""


@doubt.command("list")
@click.option("--send", "send_id", type=click.UUID, help="Only messages of this send.")
@click.option("--limit", type=click.IntRange(1, 100_000), default=50, show_default=True)
@json_option
def list_doubts(send_id: UUID | None, limit: int, as_json: bool) -> None:
    """List messages in doubt, oldest first.

    If a message's worker was killed, the time is when that was noticed: the message was submitted earlier
    (`submitted_no_later_than`; `submitted_at` in JSON).
    """
    with database() as connection:
        rows = by_operator.list_doubts(connection, send_id=send_id, limit=limit)
    if not as_json:
        rows = [{_HEADERS.get(name, name): value for name, value in row.items()} for row in rows]
    show_rows(rows, as_json, "Messages in doubt", "No message is in doubt.")


@doubt.command("resolve")
@click.argument("message_ids", nargs=-1, type=click.UUID, metavar="[MESSAGE_ID]...")
@click.argument("outcome", type=click.Choice(list(by_operator.OUTCOMES)))
@click.option("--send", "send_id", type=click.UUID, help="All messages in doubt of this send.")
@click.option(
    "--file", type=click.File(encoding="utf-8-sig"), help="File of message ids, one per line; `-`: standard input."
)
def resolve_doubt(message_ids: tuple[UUID, ...], outcome: str, send_id: UUID | None, file: TextIO | None) -> None:
    """Resolve messages in doubt as the carrier reports them.

    `sent` and `delivered` charge the messages; `not-sent` releases their credits. Name messages, a send (--send), or a
    file of ids (--file). All are resolved in one transaction; messages no longer in doubt are left alone.
    """
    ids = [*message_ids, *(read_ids(file) if file is not None else [])]
    if not ids and send_id is None and file is None:
        raise click.UsageError("Name messages, or use --send or --file. `bulksms doubt list` shows those in doubt.")
    with database() as connection:
        resolved, others = by_operator.resolve_doubts(connection, outcome, ids, send_id)
        skipped = [f"Message {message} {_status(connection, message)}." for message in others[:MAX_SHOWN]]
    if not resolved:
        reason = " ".join(skipped) or "None of these is in doubt."
        raise Refused(f"{reason} `bulksms doubt list` shows those in doubt.")
    done(f"{counted(resolved, 'message')}: {by_operator.OUTCOMES[outcome].summary}.")
    for line in skipped:
        messages().print(f"[yellow]![/yellow] {line}")
    if len(others) > len(skipped):
        messages().print(f"... and {len(others) - len(skipped):,} more that are not in doubt.")


def read_ids(file: TextIO) -> list[UUID]:
    """Read message ids, one per line. Empty lines are skipped; anything else raises Refused."""
    ids = []
    try:
        for number, line in enumerate(file, 1):
            if word := line.strip():
                ids.append(_message_id(word, number))
    except UnicodeDecodeError:
        raise Refused(f"{file.name} is not text in UTF-8. Nothing was changed.") from None
    return ids


def _message_id(word: str, line: int) -> UUID:
    try:
        return UUID(word)
    except ValueError:
        raise Refused(f"Line {line} is not a message id: {word[:40]!r}. Nothing was changed.") from None


def _status(connection: Connection, message: UUID) -> str:
    status = by_operator.status_of(connection, message)
    return f"is {status}" if status else "has no result yet, or does not exist"
