"""Lines of CSV whose cells a spreadsheet never evaluates as formulas."""

import re
from collections.abc import Iterable

from shared.contacts.formulas import defused

QUOTED = re.compile('[,"\n\r]')
"""What makes RFC 4180 §2 require quotes."""


def csv_line(values: Iterable[object]) -> str:
    """Format the values as one CSV line; None becomes an empty cell. A number is no formula, also if it is negative."""
    cells = (
        str(value) if isinstance(value, int) else csv_cell("" if value is None else str(value)) for value in values
    )
    return ",".join(cells) + "\n"


def csv_cell(value: str) -> str:
    """Defuse the formulas in a value, and quote it where RFC 4180 §2 requires it."""
    value = defused(value)
    return '"' + value.replace('"', '""') + '"' if QUOTED.search(value) else value
