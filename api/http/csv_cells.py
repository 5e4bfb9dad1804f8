"""Lines of CSV that a spreadsheet shows and never runs."""

from collections.abc import Iterable

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""How a cell begins that a spreadsheet takes for a formula."""


def csv_line(values: Iterable[object]) -> str:
    """A line of the values, None as an empty cell."""
    return ",".join("" if value is None else csv_cell(str(value)) for value in values) + "\n"


def csv_cell(value: str) -> str:
    """A value, quoted where CSV asks for it (RFC 4180 §2), and never a formula: that gets an apostrophe before it."""
    if value.startswith(FORMULA):
        value = "'" + value
    return '"' + value.replace('"', '""') + '"' if any(mark in value for mark in ',"\n\r') else value
