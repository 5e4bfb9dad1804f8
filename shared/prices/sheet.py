"""Reads the CSV files of which versions are made: a price on each line, for a prefix or a country, and a category.

    prefix,category,price
    254,,12
    25470,authentication,15
    FR,,40

The columns may come in any order, with any delimiter; `category` may be missing. A price is in credits per segment; in
its place, `amount` may be in the installation's currency.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import chain
from typing import Final, NamedTuple

import phonenumbers

from shared.contacts.rows import SAMPLE_CHARACTERS, RowReader, sample_rows
from shared.lifecycle import Category
from shared.prices.price_table import ANY
from shared.sms.countries import PREFIX_DIGITS, country_of
from shared.unit import Unit

MAX_LINES: Final = 1_000_000
MAX_PRICE: Final = 10**10
"""Credits. What a send of ten million messages costs still fits into 64 bits."""
MAX_PREFIX: Final = 15
DESTINATIONS: Final = ("prefix", "code", "destination", "country")
"""The first of these columns counts."""
COLUMNS: Final = (*DESTINATIONS, "category", "price", "amount")
EVERYWHERE: Final = ("*", "any", "default")


class SheetRow(NamedTuple):
    """A price on a line, numbered from 1."""

    line: int
    category: str
    prefix: str
    credits: int


class SheetError(NamedTuple):
    """A line that cannot be used, and why."""

    line: int
    detail: str


class BadSheet(Exception):
    """A sheet cannot be used: its first mistakes, and how many there are."""

    def __init__(self, errors: list[SheetError], count: int = 1) -> None:
        super().__init__(f"Line {errors[0].line:,}: {errors[0].detail}")
        self.errors, self.count = errors, count


def read_sheet(chunks: Iterable[str], unit: Unit) -> Iterator[SheetRow | SheetError]:
    """The prices of a file's text, in chunks of whole lines. A country of several prefixes gives several rows.

    Raises BadSheet if it has no columns for destinations and prices, or more than MAX_LINES lines.
    """
    texts = iter(chunks)
    first = next(texts, "")
    sample = sample_rows(first, is_whole=len(first) < SAMPLE_CHARACTERS)
    begins, names = sample.rows[0] if sample.rows else (1, [])
    names = [name.lower() for name in names]
    destination = next((names.index(name) for name in DESTINATIONS if name in names), None)
    priced = next((names.index(name) for name in ("price", "amount") if name in names), None)
    if destination is None or priced is None:
        detail = "Name the columns here: `prefix` (or `country`) and `price`, and perhaps `category`."
        raise BadSheet([SheetError(begins, detail)])
    unknown = [name for name in names if name not in COLUMNS]
    if unknown or {"price", "amount"} <= set(names):
        what = f"There is no column {unknown[0][:40]!r}" if unknown else "Write `price` or `amount`, not both"
        raise BadSheet([SheetError(begins, f"{what}. The columns are {', '.join(COLUMNS)}.")])
    if names[priced] == "amount" and not unit.currency:
        raise BadSheet([SheetError(begins, "Write the column `price`, in credits: UNIT names no currency.")])
    category = names.index("category") if "category" in names else None
    credits = unit.credits if names[priced] == "amount" else _whole
    lines = (line for text in chain([first], texts) for line in text.splitlines(keepends=True))
    for line, cells, problem in RowReader(lines, sample.delimiter):
        if line > MAX_LINES:
            raise BadSheet([SheetError(line, f"A sheet has at most {MAX_LINES:,} lines.")])
        if problem is not None:
            yield SheetError(line, problem)
        elif len(cells) > len(names):
            detail = f"It has {len(cells)} cells for {len(names)} columns. Write a decimal point, not a comma."
            yield SheetError(line, detail)
        elif line > begins and any(cells):
            cells += [""] * (len(names) - len(cells))
            kind = "" if category is None else cells[category].strip().lower()
            yield from _rows(line, cells[destination].strip(), kind, cells[priced].strip(), credits)


def _whole(price: str) -> int | None:
    return int(price) if price.isascii() and price.isdigit() and len(price) < 20 else None


def _rows(
    line: int, destination: str, category: str, price: str, credits_of: Callable[[str], int | None]
) -> Iterator[SheetRow | SheetError]:
    credits, prefixes = credits_of(price), prefixes_of(destination)
    if category not in ("", "any", "*", *Category):
        yield SheetError(line, f"{category[:40]!r} is no category: {', '.join(Category)}, or nothing for any.")
    elif credits is None or credits > MAX_PRICE:
        unit = (
            "whole credits"
            if credits_of is _whole
            else "an amount with a decimal point and no more decimals than UNIT has,"
        )
        yield SheetError(line, f"{price[:40]!r} is no price: write {unit} per segment, at most {MAX_PRICE:,} credits.")
    elif not prefixes:
        detail = (
            f"{destination[:40]!r} is neither the first digits of phones (1 to {MAX_PREFIX}, with the country code) nor"
            " the two letters of a country that has country codes of its own; `*` stands for everywhere."
        )
        yield SheetError(line, detail)
    else:
        of_category = ANY if category in ("any", "*") else category
        for prefix in prefixes:
            yield SheetRow(line, of_category, prefix, credits)


def prefixes_of(destination: str) -> tuple[str, ...]:
    """The prefixes of a destination: of digits those, of a country (`FR`) its own; empty if it has none."""
    digits = destination.removeprefix("+")
    if digits.isascii() and digits.isdigit():
        return (digits,) if len(digits) <= MAX_PREFIX and digits[0] != "0" else ()
    return (ANY,) if destination.lower() in EVERYWHERE else _of_country(destination.upper())


@lru_cache(300)
def _of_country(country: str) -> tuple[str, ...]:
    """Where several countries share a country code, +1 and +7 are divided by their next digits; of the others, only the
    largest country has a prefix."""
    code = phonenumbers.COUNTRY_CODE_TO_REGION_CODE
    own = next((str(each) for each, regions in code.items() if country in regions), None)
    if own in ("1", "7"):
        rest = PREFIX_DIGITS - len(own)
        every = (f"{own}{number:0{rest}d}" for number in range(10**rest))
        return tuple(prefix for prefix in every if country_of(prefix) == country)
    return (own,) if own is not None and code[int(own)][0] == country else ()
