"""What the commands share: the database of the installation, tables, JSON."""

import json
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import Any, Literal, TypeVar

import click
from rich.cells import cell_len
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from sqlalchemy import Connection, Engine, RowMapping

from bulksms.environment import Installation, find_installation
from shared.db.connection import make_engine
from shared.encryption import Texts

F = TypeVar("F", bound=Callable[..., Any])

TEXT_WIDTH = 24
"""Columns that a text gets at least before it is broken into lines."""
MEASURED_WIDTH = 10_000
PIPED_WIDTH = 200
"""Columns of a table that goes into a file or another program."""


def console() -> Console:
    """Standard output, with colours and the terminal's width where it is one."""
    return Console(width=None if sys.stdout.isatty() else PIPED_WIDTH, highlight=False)


def messages() -> Console:
    """Standard error: what is said to a person and is no result."""
    return Console(stderr=True, highlight=False, soft_wrap=True)


def installation() -> Installation:
    """The installation to work on; says so when it is that of the current folder."""
    found = find_installation()
    if found.data is not None:
        messages().print(f"[dim]Settings from {found.source}[/dim]")
    return found


@contextmanager
def engine_of(found: Installation) -> Iterator[Engine]:
    """The installation's database."""
    texts = Texts(found.settings.text_keys)
    engine = make_engine(found.settings.database_url, pool=2, application="bulksms-cli", texts=texts)
    try:
        yield engine
    finally:
        engine.dispose()


@contextmanager
def database() -> Iterator[Connection]:
    """One transaction in the installation's database, committed at the end of the block."""
    with engine_of(installation()) as engine, engine.begin() as connection:
        yield connection


def json_option(command: F) -> F:
    """Adds `--json` to a command."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")(command)


def show_rows(rows: Iterable[RowMapping | Mapping[str, Any]], as_json: bool, title: str, nothing: str) -> None:
    """Print rows as a table or as a JSON array. `nothing` is said of an empty table.

    Only texts are broken into lines. Where the rest does not fit the terminal, each row is printed by itself.
    """
    found = [dict(row) for row in rows]
    if as_json:
        show_json(found)
        return
    if not found:
        messages().print(escape(nothing))
        return
    table = Table(title=title, title_justify="left")
    for name in found[0]:
        values = [row[name] for row in found]
        justify: Literal["left", "right"] = "right" if any(map(_is_number, values)) else "left"
        is_text = any(map(_is_text, values))
        widest = max(cell_len(_cell(value)) for value in values)
        least = min(widest, TEXT_WIDTH) if is_text else widest
        table.add_column(name.replace("_", " "), justify=justify, no_wrap=not is_text, min_width=least)
    for row in found:
        table.add_row(*(_cell(value) for value in row.values()))
    out = console()
    # Measured where there is room: a console of its own width would only say that it is full.
    if Console(width=MEASURED_WIDTH).measure(table).minimum <= out.width:
        out.print(table)
        return
    out.print(f"[italic]{escape(title)}[/italic]")
    for row in found:
        out.rule()
        out.print(_list_of(row))


def show_one(row: RowMapping | Mapping[str, Any], as_json: bool) -> None:
    """Print one object: its names and values below each other, or JSON."""
    if as_json:
        show_json(dict(row))
        return
    console().print(_list_of(row))


def _list_of(row: RowMapping | Mapping[str, Any]) -> Table:
    """Names and values below each other."""
    table = Table(show_header=False, box=None)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in row.items():
        table.add_row(f"[bold]{name.replace('_', ' ')}[/bold]", _cell(value))
    return table


def show_json(value: Any) -> None:
    """Print JSON; times are ISO 8601."""
    click.echo(json.dumps(value, indent=2, default=_plain))


def done(text: str) -> None:
    """Say what was done."""
    messages().print(f"[green]✓[/green] {escape(text)}")


def hint(*arguments: object) -> str:
    """A command of `bulksms` to paste into a shell: names may hold spaces and anything else."""
    return shlex.join(["bulksms", *map(str, arguments)])


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """A number of something: `1 row`, `2 rows`; `2 batches` where the plural is told."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {plural or noun + 's'}"


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_text(value: Any) -> bool:
    """Whether it may be broken into lines: it has several words, and is none of ours, such as an id or a time."""
    return isinstance(value, (str, list, tuple)) and " " in _cell(value)


def _cell(value: Any) -> str:
    match value:
        case None:
            return "-"
        case bool():
            return "yes" if value else "no"
        case int():
            return f"{value:,}"
        case datetime():
            return f"{value:%Y-%m-%d %H:%M:%S}Z"
        case list() | tuple():
            return ", ".join(map(str, value))
        case _:
            return str(value).replace("[", r"\[")


def _plain(value: Any) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)
