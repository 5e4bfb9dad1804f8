"""Generates a mutation for each condition of a query that names the account or the person: widened to all of them.

`generated/owners.toml` names the tests that must notice, by the file and the name of the query; or it says why there is
nothing to notice. A condition without an entry fails the tests. A route in place of a test is that of
test_two_accounts.py with this route.
"""

import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.mutations.source import Condition, Place, Source, conditions, sources

ROOT = Path(__file__).parent.parent.parent
OWNERS = Path(__file__).parent / "generated" / "owners.toml"
TWO_ACCOUNTS = "tests/integration/auth/test_two_accounts.py"


@dataclass(frozen=True, slots=True)
class Generated:
    """One check of the source taken away, and the tests that must notice it."""

    promise: str
    place: Place
    new: str
    tests: tuple[str, ...]

    @property
    def file(self) -> str:
        """The file that it changes."""
        return self.place.file

    def apply(self, root: Path) -> None:
        """Change the file in the source tree `root`."""
        path, (_, start, end) = root / self.file, self.place
        text = path.read_text()
        path.write_text(text[:start] + self.new + text[end:])


@cache
def entries() -> dict[str, tuple[str, ...] | str]:
    """What `generated/owners.toml` says: the tests, or why there is nothing to notice."""
    found = tomllib.loads(OWNERS.read_text())
    return {name: entry if isinstance(entry, str) else tuple(entry) for name, entry in found.items()}


def tests_of(*names: str) -> tuple[str, ...]:
    """The tests of the first name that has an entry; none if it says why not, or there is no entry."""
    known = entries()
    entry = next((known[name] for name in names if name in known), ())
    return () if isinstance(entry, str) else tuple(map(node_of, entry))


def node_of(entry: str) -> str:
    """A test as pytest takes it: `GET /sends` is that of a route with two accounts."""
    if entry.startswith("tests/"):
        return entry
    of_object = "test_an_object_of_another_account_looks_like_an_unknown_one"
    test = of_object if "<" in entry else "test_no_list_shows_anything_of_another_account"
    return f"{TWO_ACCOUNTS}::{test}[two accounts-{entry}]"


def owner_keys(source: Source) -> Iterator[tuple[Condition, tuple[str, str]]]:
    """The conditions of a file, each with its names in generated/owners.toml: that of one of several, then of all."""
    count: Counter[str] = Counter()
    for condition in conditions(source):
        count[condition.name] += 1
        name = f"{condition.place.file} {condition.name}"
        yield condition, (f"{name} ({count[condition.name]})", name)


def owner_mutations(root: Path = ROOT) -> Iterator[Generated]:
    """Each condition that names the account or the person, widened to all of them."""
    for source in sources(root):
        for condition, names in owner_keys(source):
            original = source.text[condition.place.start : condition.place.end]
            column = original.split(" == ")[0].split(".in_(")[0]
            new = f"({original} OR true)" if condition.is_sql else f"(({original}) | {column}.is_not(None))"
            promise = f"{names[0].partition(' ')[2]} finds what is its owner's alone."
            yield Generated(promise, condition.place, new, tests_of(*names))
