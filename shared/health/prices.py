"""Findings of `bulksms doctor` about prices that are lower than what carriers cost."""

from collections.abc import Iterator
from datetime import UTC, datetime

from sqlalchemy import Connection

from shared.db.connection import transaction
from shared.health.finding import Finding
from shared.plurals import counted
from shared.prices.book import read_book
from shared.prices.compare import compare

MAX_NAMED = 3


def check_prices(connection: Connection) -> Iterator[Finding]:
    """A finding for each list that accounts have now and that has such prices."""
    book, now = read_book(connection), datetime.now(UTC)
    valid = {book.version_of(account or 0, now) for account in book.assignments}  # no account has the id 0
    clean = True
    for version in sorted(each for each in valid if each is not None):
        with transaction(connection.engine) as comparing:
            found = compare(comparing, version.id, version.id, costs=book.costs_at(now))
        if found.changes:
            clean = False
            named = "; ".join(
                f"{each.category or 'any'} to {each.prefix or '*'} for {each.after:,} ({each.carrier}: {each.cost:,})"
                for each in found.changes[:MAX_NAMED]
            )
            count = counted(found.counts["below_cost"], "price is", "prices are")
            detail = f"{count} lower in {version.list_name} than a carrier costs: {named}"
            yield Finding("prices", "notice", detail, "Raise them, or send there by a cheaper carrier: [[routes]].")
    if clean:
        yield Finding("prices", "ok", "none is lower than a carrier costs")
