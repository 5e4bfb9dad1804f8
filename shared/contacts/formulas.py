"""Formulas in the cells of CSV: defused in what we write, and restored in what we read back.

A spreadsheet runs a cell that begins with `=`, `+`, `-` or `@`, if need be after blanks. One that separates cells by
semicolons or tabs also begins cells within ours, and a row at each line end. An apostrophe makes such a cell text.
"""

import re
from typing import Final

_MARKS: Final = r"=+@\uff1d\uff0b\uff0d\uff20\-"
"""What begins a formula, also in full width."""
_FIRST: Final = rf"['\s]*[{_MARKS}]|'*[\t\r]"
"""How a value begins that is defused."""
_LATER: Final = rf"(?:['\"]|[^\S\t\r\n])*[{_MARKS}]"
"""The same after a separator within a value: quotes before the formula may be those of a cell of its own."""
_SEPARATOR: Final = "[;\t\r\n]"

_RISKY = re.compile(f"[{_MARKS}\t\r]")
_TO_DEFUSE = re.compile(rf"\A(?={_FIRST})|(?<={_SEPARATOR})(?={_LATER})")
_DEFUSED = re.compile(rf"\A'(?={_FIRST})|(?<={_SEPARATOR})'(?={_LATER})")


def defused(value: str) -> str:
    """The value with an apostrophe before each formula, and before apostrophes that stand there already."""
    return _TO_DEFUSE.sub("'", value) if _RISKY.search(value) else value


def restored(value: str) -> str:
    """The value that was defused; so `restored(defused(value)) == value`."""
    return _DEFUSED.sub("", value) if "'" in value else value
