"""Findings of `bulksms doctor` about prices that are lower than what carriers cost."""

from collections.abc import Iterator
from datetime import UTC, datetime

from sqlalchemy import Connection

from shared.health.finding import Finding
from shared.plurals import counted
from shared.prices.book import read_book, read_table
from shared.prices.compare import below_cost
from shared.prices.costs import costs_at

MAX_NAMED = 3


def check_prices(connection: Connection) -> Iterator[Finding]:
    """A finding for each list that accounts have now and that has such prices."""
    costs, book, now = costs_at(connection), read_book(connection), datetime.now(UTC)
    valid = {book.version_of(account or 0, now) for account in book.assignments}  # no account has the id 0
    clean = True
    for version in sorted(each for each in valid if each is not None):
        below = list(below_cost(read_table(connection, version.id), costs))
        if below:
            clean = False
            named = "; ".join(
                f"{each.category or 'any'} to {each.prefix or '*'} for {each.price:,} ({each.carrier}: {each.cost:,})"
                for each in below[:MAX_NAMED]
            )
            count = counted(len(below), "price is", "prices are")
            detail = f"{count} lower in {version.list_name} than a carrier costs: {named}"
            yield Finding("prices", "notice", detail, "Raise them, or send there by a cheaper carrier: [[routes]].")
    if clean:
        yield Finding("prices", "ok", "none is lower than a carrier costs")
