"""Every condition of an owner has a mutation, and every mutation its tests: without them, a new one fails here.

`make mutations` tries them.
"""

from pathlib import Path

import pytest

from tests.mutations.generate import ROOT, entries, node_of, owner_keys
from tests.mutations.source import Source, conditions, sources


def test_every_condition_of_an_owner_has_an_entry() -> None:
    known, owners = set(entries()), [names for source in sources(ROOT) for _, names in owner_keys(source)]
    missing = [names for names in owners if not known & set(names)]
    assert not missing, "name the tests in tests/mutations/generated/owners.toml, or say why not"
    assert known <= {name for names in owners for name in names}


def test_every_test_that_an_entry_names_is_there() -> None:
    for name, entry in entries().items():
        for test in () if isinstance(entry, str) else entry:
            file, _, function = node_of(test).partition("::")
            assert (ROOT / file).is_file(), (name, file)
            assert f"def {function.partition('[')[0]}" in (ROOT / file).read_text(), (name, test)


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("q = select(t).where(t.c.account_id == bindparam('account'))", 1),
        ("q = select(t).where(T.account_id.in_(IDS))", 1),
        ("q = t.join(u, t.c.account_id == u.c.account_id)", 0),
        ("q = t.join(a, t.c.account_id == a.c.id)", 0),
        ("q = text('SELECT 1 FROM t WHERE t.account_id = :account')", 1),
        ("is_own = caller.account_id == other", 0),
    ],
)
def test_conditions_are_found(tmp_path: Path, code: str, found: int) -> None:
    (tmp_path / "code.py").write_text(code)
    assert len(list(conditions(Source(tmp_path, "code.py")))) == found
