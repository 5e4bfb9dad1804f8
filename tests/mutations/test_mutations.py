"""The catalogue fits the code, and the tests notice one of it. All of it is tried by `make mutations`."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.mutations.catalogue import Mutation, mutations
from tests.mutations.generate import ROOT
from tests.mutations.run import copy_of_the_source, is_noticed

ALL = mutations()


@pytest.fixture(scope="module")
def copy() -> Iterator[Path]:
    with copy_of_the_source() as made:
        yield made


def test_the_entries_fit_the_code() -> None:
    problems = {mutation.promise: mutation.problem(ROOT) for mutation in ALL}
    assert {promise: problem for promise, problem in problems.items() if problem is not None} == {}


@pytest.mark.slow
def test_a_broken_promise_is_noticed(copy: Path) -> None:
    mutation = next(each for each in ALL if each.tests == ("tests/unit/sms/test_segments.py",))
    before = (copy / mutation.file).read_bytes()
    assert is_noticed(mutation, copy)
    assert (copy / mutation.file).read_bytes() == before


@pytest.mark.slow
def test_a_change_that_breaks_nothing_is_not_noticed(copy: Path) -> None:
    harmless = Mutation(
        "A docstring is no promise.",
        "shared/sms/segments.py",
        (ROOT / "shared/sms/segments.py").read_text().splitlines()[0],
        '"""Another first line.',
        ("tests/unit/sms/test_gsm7.py",),
    )
    assert not is_noticed(harmless, copy)
