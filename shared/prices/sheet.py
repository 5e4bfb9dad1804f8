"""Reads the CSV files of which versions are made: a price on each line, for a prefix or a country, and a category.

    prefix,category,price
    254,,12
    25470,authentication,15
    FR,,40

The columns may come in any order, with any delimiter; `category` may be missing. A price is in credits per segment.
"""

import csv
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import chain
from typing import Final, NamedTuple

import phonenumbers

from shared.contacts.rows import sample_rows
from shared.lifecycle import Category
from shared.prices.price_table import ANY
from shared.sms.countries import PREFIX_DIGITS, country_of

MAX_LINES: Final = 1_000_000
MAX_PRICE: Final = 10**10
"""Credits. What a send of ten million messages costs still fits into 64 bits."""
MAX_PREFIX: Final = 15
DESTINATIONS: Final = ("prefix", "country", "destination", "code")
EVERYWHERE: Final = ("*", "any", "default", "")


class SheetRow(NamedTuple):
    """A price on a line, numbered from 1."""

    line: int
    category: str
    prefix: str
    credits: int


class SheetError(NamedTuple):
    """A line that cannot be used, and why."""

    line: int
    code: str
    detail: str


class NotASheet(Exception):
    """The file as a whole cannot be used. The message says what to do."""


def read_sheet(chunks: Iterable[str]) -> Iterator[SheetRow | SheetError]:
    """The prices of a file's text, in chunks of whole lines. A country of several prefixes gives several rows.

    Raises NotASheet if it has no column for destinations or prices, or more than MAX_LINES lines.
    """
    texts = iter(chunks)
    first = next(texts, "")
    reader = csv.reader(
        (line for text in chain([first], texts) for line in text.splitlines(keepends=True)),
        delimiter=sample_rows(first, is_whole=False).delimiter,
    )
    header = [name.strip().lower() for name in next(reader, [])]
    destination = next((number for number, name in enumerate(header) if name in DESTINATIONS), None)
    if destination is None or "price" not in header:
        raise NotASheet(
            "The first line must name the columns: `prefix` (or `country`) and `price`, and perhaps `category`."
        )
    price, category = header.index("price"), header.index("category") if "category" in header else None
    for cells in reader:
        if reader.line_num > MAX_LINES:
            raise NotASheet(f"A sheet has at most {MAX_LINES:,} lines.")
        if any(cells):
            cells += [""] * (len(header) - len(cells))
            yield from _rows(
                reader.line_num,
                cells[destination].strip(),
                "" if category is None else cells[category].strip().lower(),
                cells[price].strip(),
            )


def _rows(line: int, destination: str, category: str, price: str) -> Iterator[SheetRow | SheetError]:
    if category not in ("", "any", "*", *Category):
        known = ", ".join(Category)
        yield SheetError(line, "unknown_category", f"{category[:40]!r} is no category: {known}, or nothing for any.")
        return
    if not (price.isascii() and price.isdigit()) or int(price[:20]) > MAX_PRICE:
        detail = f"{price[:40]!r} is no price: write whole credits per segment, from 0 to {MAX_PRICE:,}."
        yield SheetError(line, "invalid_price", detail)
        return
    prefixes = prefixes_of(destination)
    if not prefixes:
        detail = (
            f"{destination[:40]!r} is neither the first digits of phones (1 to {MAX_PREFIX}, with the country code) nor"
            " the two letters of a country that has country codes of its own; `*` stands for everywhere."
        )
        yield SheetError(line, "unknown_destination", detail)
        return
    of_category = ANY if category in ("any", "*") else category
    for prefix in prefixes:
        yield SheetRow(line, of_category, prefix, int(price))


@cache
def prefixes_of(destination: str) -> tuple[str, ...]:
    """The prefixes of a destination: of digits those, of a country (`FR`) its own; empty if it has none.

    Where several countries share a country code, +1 and +7 are divided by their next digits; of the others, only the
    largest country has a prefix.
    """
    digits = destination.removeprefix("+")
    if digits.isascii() and digits.isdigit():
        return (digits,) if len(digits) <= MAX_PREFIX and digits[0] != "0" else ()
    if destination.lower() in EVERYWHERE:
        return (ANY,)
    country = destination.upper()
    code = phonenumbers.COUNTRY_CODE_TO_REGION_CODE
    own = next((str(each) for each, regions in code.items() if country in regions), None)
    if own in ("1", "7"):
        rest = PREFIX_DIGITS - len(own)
        every = (f"{own}{number:0{rest}d}" for number in range(10**rest))
        return tuple(prefix for prefix in every if country_of(prefix) == country)
    return (own,) if own is not None and code[int(own)][0] == country else ()
