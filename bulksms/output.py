"""Output of the commands, as tables or JSON."""

import errno
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, TypeVar

import click
from rich.cells import cell_len
from rich.console import Console
from rich.markup import escape
from rich.rule import Rule
from rich.table import Table
from rich.text import Text
from sqlalchemy import RowMapping

F = TypeVar("F", bound=Callable[..., Any])

TEXT_WIDTH = 24
"""Minimum width of a column of text, in characters, before its text is wrapped."""
MEASURED_WIDTH = 10_000
PIPED_WIDTH = 200
"""Width of output that does not go to a terminal, in characters."""


class NotPrinted(click.ClickException):
    """Standard output cannot be written."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"Standard output cannot be written: {reason}.")


class Output(Console):
    """A console that raises BrokenPipeError if nobody reads."""

    def on_broken_pipe(self) -> None:
        """Leave the end of the command to click, which knows the error by its number."""
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))


def console() -> Console:
    """Standard output, with colors and the terminal's width if it is a terminal."""
    return Output(width=None if sys.stdout.isatty() else PIPED_WIDTH, highlight=False)


def show(*objects: Any, **options: Any) -> None:
    """Print on standard output, and flush. `options` are those of rich's `print`."""
    with writing():
        console().print(*objects, **options)


def echo(value: object) -> None:
    """Print one line, for programs, and flush."""
    with writing():
        click.echo(value)


@contextmanager
def writing() -> Iterator[None]:
    """Raise NotPrinted if standard output cannot be written, or BrokenPipeError if nobody reads."""
    try:
        yield
    except OSError as error:
        with suppress(OSError), Path(os.devnull).open("w") as nothing:
            os.dup2(nothing.fileno(), sys.stdout.fileno())  # or Python complains once more when it ends
        if isinstance(error, BrokenPipeError):
            raise
        raise NotPrinted(error.strerror or str(error)) from error


def messages() -> Console:
    """Standard error, for messages to a person that are not results."""
    return Console(stderr=True, highlight=False, soft_wrap=True)


def json_option(command: F) -> F:
    """Add `--json` to a command."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")(command)


def show_rows(rows: Iterable[RowMapping | Mapping[str, Any]], as_json: bool, title: str, empty: str) -> None:
    """Print rows as a table or a JSON array. `empty` is printed instead of an empty table.

    Only text and names of columns are wrapped. If the table still does not fit the terminal, each row is printed as a
    list of its own.
    """
    table_rows = [dict(row) for row in rows]
    if as_json:
        show_json(table_rows)
        return
    if not table_rows:
        messages().print(escape(empty))
        return
    width = console().width
    for between_words in (" ", "\n"):
        table = _table(table_rows, title, between_words)
        # Measured on a wide console: one of the terminal's width never reports more than its width.
        if Console(width=MEASURED_WIDTH).measure(table).minimum <= width:
            show(table)
            return
    show(f"[italic]{escape(title)}[/italic]")
    for row in table_rows:
        show(Rule())
        show(_list_of(row))


def show_lines(rows: Iterable[RowMapping | Mapping[str, Any]], empty: str) -> None:
    """Print each row as one line, without its empty values. `empty` is printed if there are none."""
    lines = ["  ".join(" ".join(_cell(value).split()) for value in row.values() if value is not None) for row in rows]
    if not lines:
        messages().print(escape(empty))
    for line in lines:
        show(Text(line), soft_wrap=True)


def show_one(row: RowMapping | Mapping[str, Any], as_json: bool) -> None:
    """Print one object as a list of names and values, or as JSON."""
    if as_json:
        show_json(dict(row))
        return
    show(_list_of(row))


def _table(rows: list[dict[str, Any]], title: str, between_words: str) -> Table:
    """A table whose columns have their names, with `between_words` between the words of a name."""
    table = Table(title=Text(title), title_justify="left")
    for name in rows[0]:
        values = [row[name] for row in rows]
        justify: Literal["left", "right"] = "right" if any(map(_is_number, values)) else "left"
        is_text = any(map(_is_text, values))
        widest = max(cell_len(_cell(value)) for value in values)
        header = name.replace("_", between_words)
        min_width = max(min(widest, TEXT_WIDTH) if is_text else widest, *map(len, header.split("\n")))
        table.add_column(header, justify=justify, no_wrap=not is_text, min_width=min_width)
    for row in rows:
        table.add_row(*(Text(_cell(value)) for value in row.values()))
    return table


def _list_of(row: RowMapping | Mapping[str, Any]) -> Table:
    """A list of names and values."""
    table = Table(show_header=False, box=None)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in row.items():
        table.add_row(Text(name.replace("_", " "), style="bold"), Text(_cell(value)))
    return table


def show_json(value: Any) -> None:
    """Print JSON; times are ISO 8601."""
    echo(json.dumps(value, indent=2, default=_plain))


def done(text: str) -> None:
    """Print a message that confirms success."""
    messages().print(f"[green]✓[/green] {escape(text)}")


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_text(value: Any) -> bool:
    """Whether a value may be wrapped: it has several words, unlike an id or a time."""
    return isinstance(value, (str, list, tuple)) and " " in _cell(value)


def _cell(value: Any) -> str:
    """A value as plain text: show it as a `Text`, or brackets in it would be markup."""
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
            return str(value)


def _plain(value: Any) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)
