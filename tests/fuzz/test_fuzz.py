"""A short form of `make fuzz`, and that it would find something."""

import pytest

from tests.fuzz import run, targets
from tests.fuzz.mutate import Mutator
from tests.fuzz.run import Finding, fuzz


def test_it_works() -> None:
    assert list(fuzz(6_000, seed=1)) == []


def test_a_parser_that_crashes_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def fragile(data: bytes, mutator: Mutator) -> None:
        data.decode("ascii")

    broken = (targets.Target("fragile", [b"plain"], fragile),)
    monkeypatch.setattr(run, "TARGETS", broken)
    with pytest.raises(Finding, match=r"fragile: UnicodeDecodeError.*--first \d+"):
        list(fuzz(2_000, seed=1))
