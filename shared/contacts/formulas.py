"""Formulas in the cells of CSV: defused in what we write, and restored in what we read back.

A spreadsheet runs a cell that begins with `=`, `+`, `-` or `@`, if need be after blanks. One that separates cells by
semicolons or tabs also begins cells within ours, and a row at each line end. An apostrophe makes such a cell text.
"""

import re
from typing import Final

_MARKS: Final = r"=+@\uff1d\uff0b\uff0d\uff20\-"
"""What begins a formula, also in full width."""
_FIRST: Final = re.compile(rf"['\s]*[{_MARKS}]|'*[\t\n]['\s]*[^'\s]")
"""How a value begins that is defused. What has only blanks is none: whoever reads a cell leaves out those around it."""
_LATER: Final = rf"(?:['\"]|[^\S\t\n])*[{_MARKS}]"
"""The same after a separator within a value: quotes before the formula may be those of a cell of its own."""
_TO_DEFUSE: Final = re.compile(rf"([;\t\n])(?={_LATER})")
_DEFUSED: Final = re.compile(rf"([;\t\n])'(?={_LATER})")

_NO_VALUE: Final = re.compile(r"#N/[AD]|#NV|#[¡¿]?[^\W\d_]+(?:/0)?[!?]|NULL|\\N")
"""What spreadsheets and databases write for none: `#N/A`, `#REF!`, `NULL`, `\\N`."""
_BLANKS: Final = {
    **dict.fromkeys((0xA0, 0x1680, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000), " "),
    **dict.fromkeys((0x200B, 0x2060, 0xFEFF)),
}
"""For `str.translate`: they are none of the SMS alphabet, and make a text cost up to three times as much.

U+200C and U+200D stay: they make other letters.
"""


def value_of(cell: str) -> str:
    """The value in a cell of a file, with spaces as all of its blanks; empty if it has none, as after an error."""
    if not cell.isascii():
        cell = cell.translate(_BLANKS).strip()
    return "" if _NO_VALUE.fullmatch(cell) else cell


def defused(value: str) -> str:
    """The value with line feeds as line ends, and an apostrophe before each formula, and before apostrophes that stand
    there already."""
    value = _with_line_feeds(value)
    if _is_separated(value):
        value = _TO_DEFUSE.sub(r"\1'", value)
    return f"'{value}" if _FIRST.match(value) else value


def restored(value: str) -> str:
    """The value that was defused; so `restored(defused(value)) == value`, but for its line ends."""
    value = _with_line_feeds(value)
    if "'" not in value:
        return value
    if _is_separated(value):
        value = _DEFUSED.sub(r"\1", value)
    return value[1:] if value[0] == "'" and _FIRST.match(value, 1) else value


def _with_line_feeds(value: str) -> str:
    return value.replace("\r\n", "\n").replace("\r", "\n") if "\r" in value else value


def _is_separated(value: str) -> bool:
    return ";" in value or "\n" in value or "\t" in value
