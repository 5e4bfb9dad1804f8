"""CSV lines whose cells a spreadsheet never evaluates as formulas."""

import re
from collections.abc import Iterable

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""First characters that make a spreadsheet treat a cell as a formula, if need be after blanks, or in full width."""

QUOTED = re.compile('[,"\n\r]')
"""What makes RFC 4180 §2 require quotes."""

SPECIAL = re.compile('[,"\n\r\t=+@\uff1d\uff0b\uff0d\uff20-]')
"""Every character of FORMULA and QUOTED: one search clears most cells of an export."""


def csv_line(values: Iterable[object]) -> str:
    """Format the values as one CSV line; None becomes an empty cell."""
    return ",".join("" if value is None else csv_cell(str(value)) for value in values) + "\n"


def csv_cell(value: str) -> str:
    """Quote a value where RFC 4180 §2 requires it, and defuse a formula with a leading apostrophe."""
    if not SPECIAL.search(value):
        return value
    if value.startswith(FORMULA) or value.lstrip().startswith(FORMULA):
        value = "'" + value
    return '"' + value.replace('"', '""') + '"' if QUOTED.search(value) else value
