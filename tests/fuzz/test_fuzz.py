"""A short form of `make fuzz`, and that it would find something."""

import pytest

from tests.fuzz import over_smpp, run, targets
from tests.fuzz.mutate import Mutator
from tests.fuzz.run import Finding, fuzz


def test_it_works() -> None:
    assert [done for done, _ in fuzz(6_000, seed=1)] == [6_000]


@pytest.mark.slow
def test_the_smpp_server() -> None:
    assert [done for done, _ in over_smpp.fuzz(4_000, seed=1)][-1] == 4_000


def test_a_parser_that_crashes_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def fragile(data: bytes, mutator: Mutator) -> None:
        data.decode("ascii")

    broken = (targets.Target("fragile", [b"plain"], fragile),)
    monkeypatch.setattr(run, "TARGETS", broken)
    with pytest.raises(Finding, match=r"fragile: UnicodeDecodeError.*--first \d+"):
        list(fuzz(2_000, seed=1))
