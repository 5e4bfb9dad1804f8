"""Generates a mutation for each check of authorization and each bound that the source has.

- Scopes: of each `@endpoint`, the scope exchanged for another, and for any token. The tests of the table of
  tests/harness/authorization.py must notice: each by that of its very route, so all routes are mutated in one copy.
- Owners: each condition of a query that names the account, or the person, widened to all of them.
- Bounds: each use of a `MAX_…` constant, or of what `GET /limits` tells, with the bound a thousand times as large.

`generated/owners.toml` and `generated/bounds.toml` name the tests that must notice, by the file and the name of the
query or the bound; or they say why there is nothing to notice. What has no entry fails the tests. A route in place of a
test is that of test_two_accounts.py with this route.
"""

import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from shared.accounts.operator_keys import OPERATOR_SCOPES
from shared.scopes import SCOPES
from tests.mutations.source import (
    Condition,
    Declaration,
    Place,
    Source,
    Use,
    bounds,
    conditions,
    declarations,
    sources,
    uses,
)

ROOT = Path(__file__).parent.parent.parent
GENERATED = Path(__file__).parent / "generated"
CUSTOMERS_TEST = "tests/integration/auth/test_scopes.py"
OPERATORS_TEST = "tests/integration/operator/test_scopes.py"
TWO_ACCOUNTS = "tests/integration/auth/test_two_accounts.py"
OF_SCOPE = {
    "": "test_any_token_is_needed_and_is_enough",
    "session": "test_a_session_is_needed_and_is_enough",
    "open": "test_no_token_is_needed",
}
EXCHANGE = {
    CUSTOMERS_TEST: ("tests/integration/auth/test_tokens.py",),
    OPERATORS_TEST: ("tests/integration/operator/test_tokens.py",),
}
"""Without `POST /auth/token` nobody gets a token: it is mutated alone."""
FACTOR = 1000


@dataclass(frozen=True, slots=True)
class Generated:
    """One check of the source taken away, and the tests that must notice it."""

    promise: str
    place: Place
    new: str
    tests: tuple[str, ...]
    group: str = ""
    """Those of a group are made in one copy; each names one test, that nothing else in the group makes fail."""

    @property
    def file(self) -> str:
        """The file that it changes."""
        return self.place.file

    def apply(self, root: Path) -> None:
        """Change the file in the source tree `root`."""
        apply_all(root, [self])


def apply_all(root: Path, mutations: Iterable[Generated]) -> None:
    """Make all of them in one source tree."""
    for mutation in sorted(mutations, key=lambda each: each.place, reverse=True):
        path, (_, start, end) = root / mutation.file, mutation.place
        text = path.read_text()
        path.write_text(text[:start] + mutation.new + text[end:])


@cache
def entries(kind: str) -> dict[str, tuple[str, ...] | str]:
    """What `generated/KIND.toml` says: the tests, or why there is nothing to notice."""
    found = tomllib.loads((GENERATED / f"{kind}.toml").read_text())
    return {name: entry if isinstance(entry, str) else tuple(entry) for name, entry in found.items()}


def tests_of(kind: str, *names: str) -> tuple[str, ...]:
    """The tests of the first name that has an entry; none if it says why not, or there is no entry."""
    known = entries(kind)
    entry = next((known[name] for name in names if name in known), ())
    return () if isinstance(entry, str) else tuple(map(node_of, entry))


def node_of(entry: str) -> str:
    """A test as pytest takes it: `GET /sends` is that of a route with two accounts."""
    if entry.startswith("tests/"):
        return entry
    of_object = "test_an_object_of_another_account_looks_like_an_unknown_one"
    test = of_object if "<" in entry else "test_no_list_shows_anything_of_another_account"
    return f"{TWO_ACCOUNTS}::{test}[two accounts-{entry}]"


def scope_mutations(root: Path = ROOT) -> Iterator[Generated]:
    """The scope of each endpoint exchanged for another, then for that of any token."""
    for source in sources(root, ("api",)):
        for declared in declarations(source):
            for change, scope in (("another scope", _another(declared)), ("any token", "")):
                if scope != declared.scope and not (change == "any token" and declared.scope is None):
                    yield _scope_mutation(source, declared, change, scope)


def _scope_mutation(source: Source, declared: Declaration, change: str, scope: str) -> Generated:
    route = f"{declared.method} {declared.path}"
    tests = OPERATORS_TEST if _is_operators(source, declared) else CUSTOMERS_TEST
    promise, group = f"{route} needs its scope, not {change}.", f"{tests} {change}"
    if route == "POST /auth/token":
        return Generated(promise, declared.place, repr(scope), EXCHANGE[tests])
    needed = declared.scope
    if needed is None:
        needed = "session" if declared.path.startswith("/me") else "open"
    test = OF_SCOPE.get(needed, "test_the_scope_is_needed_and_is_enough")
    return Generated(promise, declared.place, f'"{scope}"', (f"{tests}::{test}[{route}]",), group)


def _is_operators(source: Source, declared: Declaration) -> bool:
    return source.file.startswith("api/operator/")


def _another(declared: Declaration) -> str:
    if declared.scope is None:
        return ""
    if not declared.scope:
        return SCOPES[0]
    known = tuple(OPERATOR_SCOPES) if declared.scope in OPERATOR_SCOPES else SCOPES
    return known[(known.index(declared.scope) + 1) % len(known)]


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
            yield Generated(promise, condition.place, new, tests_of("owners", *names))


def bound_keys(source: Source, known: dict[tuple[str, str], str]) -> Iterator[tuple[Use, tuple[str, str, str]]]:
    """The uses of bounds in a file, each with its names in generated/bounds.toml: that of the use by its number, of the
    uses in the same place, and of the bound."""
    count: Counter[tuple[str, str]] = Counter()
    for use in uses(source, known):
        count[use.bound, use.name] += 1
        place = f"{use.bound} in {use.place.file} {use.name}"
        yield use, (f"{place} ({count[use.bound, use.name]})", place, use.bound)


def bound_mutations(root: Path = ROOT) -> Iterator[Generated]:
    """Each use of a bound, as if the bound were a thousand times as large; a minimum as small."""
    known = bounds(root)
    for source in sources(root):
        for use, names in bound_keys(source, known):
            original = source.text[use.place.start : use.place.end]
            operator = "/" if original.startswith("MIN") else "*"
            number = names[0].rpartition(" ")[2]
            promise = f"{original} is enforced in {use.name} {number}."
            yield Generated(promise, use.place, f"({original} {operator} {FACTOR})", tests_of("bounds", *names))


KINDS = {"scopes": scope_mutations, "owners": owner_mutations, "bounds": bound_mutations}
