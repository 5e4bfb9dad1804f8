"""`bulksms reconcile`."""

import csv
from datetime import timedelta
from io import StringIO
from typing import BinaryIO

import click
from rich.markup import escape
from sqlalchemy import Connection

from bulksms.environment import database
from bulksms.output import done, json_option, messages, show_json
from shared.accounts.refused import Refused
from shared.carriers.control import require
from shared.contacts.text_stream import SUBSTITUTE, LineTooLong, NotText, WrongEncoding, text_chunks
from shared.doubts.by_operator import apply_report, list_doubts
from shared.doubts.reconcile import Matched, match
from shared.plurals import counted

MAX_SHOWN = 10


@click.command()
@click.argument("report", type=click.File("rb"))
@click.option("--carrier", required=True, help="The carrier that wrote the report, as named by `bulksms doubt list`.")
@click.option(
    "--within",
    type=click.IntRange(0, 86_400),
    default=300,
    show_default=True,
    help="Seconds by which times may differ.",
)
@click.option("--apply", "applies", is_flag=True, help="Resolve what matches; without it, nothing is changed.")
@json_option
def reconcile(report: BinaryIO, carrier: str, within: int, applies: bool, as_json: bool) -> None:
    """Find messages in doubt in a carrier's REPORT, and resolve them with --apply.

    The REPORT is CSV whose first line names the columns phone and status, and if possible reference, sender and time. A
    doubt is resolved when exactly one row fits it and that row fits no other.
    """
    with database() as connection:
        _check_carrier(connection, carrier)
        result = _match(connection, carrier, report, timedelta(seconds=within))
        resolved = apply_report(connection, carrier, result) if applies else 0
        if as_json:
            show_json(result.as_dict(resolved, applied=applies))
            return
    _explain(result)
    if applies:
        done(f"{counted(resolved, 'message')} resolved; {result.left:,} left in doubt.")
    else:
        done(f"{counted(len(result.resolutions), 'message')} would be resolved; nothing was changed. Add --apply.")


def _check_carrier(connection: Connection, name: str) -> None:
    """Refuse a carrier that no worker reports and that has no doubt: its name is mistyped."""
    if not list_doubts(connection, carrier=name, limit=1):
        try:
            require(connection, name)
        except Refused as refused:
            raise click.BadParameter(refused.reason, param_hint="--carrier") from None


def _match(connection: Connection, carrier: str, report: BinaryIO, within: timedelta) -> Matched:
    """Match the report, in UTF-8 or UTF-16, with the carrier's messages in doubt. Raises Refused if it is not CSV."""
    try:
        content = "".join(text_chunks(report))
        if SUBSTITUTE in content:
            raise Refused(f"{report.name} is not CSV: it contains a NUL character.")
        return match(connection, carrier, StringIO(content, newline=""), within)
    except WrongEncoding as problem:
        reason, _, _ = str(problem).partition(". ")
        raise Refused(f"{report.name} is not CSV in UTF-8. {reason}. Save it as CSV in UTF-8.") from None
    except (NotText, LineTooLong):
        raise Refused(f"{report.name} is not CSV. Save it as CSV in UTF-8.") from None
    except csv.Error as problem:
        raise Refused(f"{report.name} is not CSV: {problem}.") from None


def _explain(result: Matched) -> None:
    show = messages().print
    for status, count in sorted(result.statuses().items()):
        show(f"  {count:,} {status}")
    known = counted(result.not_in_doubt, "row of a message that is", "rows of messages that are")
    show(f"  {known} not in doubt, {counted(result.unmatched, 'that fits', 'that fit')} no message")
    for line in result.ambiguous[:MAX_SHOWN]:
        show(f"[yellow]![/yellow] line {line}: several rows or several doubts fit; resolve it: `bulksms doubt resolve`")
    for line, why in list(result.unreadable.items())[:MAX_SHOWN]:
        show(f"[yellow]![/yellow] line {line}: {escape(why)}")
    more = max(0, len(result.ambiguous) - MAX_SHOWN) + max(0, len(result.unreadable) - MAX_SHOWN)
    if more:
        show(f"... and {counted(more, 'more line')}, see --json")
