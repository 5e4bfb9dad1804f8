"""The catalogue fits the code, and the tests notice a sample of it. All of it is tried by `make mutations`."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.mutations.catalogue import Mutation, mutations
from tests.mutations.generate import ROOT
from tests.mutations.run import check_that_they_pass, copy_of_the_source, is_noticed

ALL = mutations()
QUICK = (("tests/unit/sms/test_segments.py",), ("tests/unit/sends/test_lifecycle.py",))
SAMPLE = [mutation for mutation in ALL if mutation.tests in QUICK]
"""Mutations that their tests notice in a second; some others make a test wait for a minute."""


@pytest.fixture(scope="module")
def copy() -> Iterator[Path]:
    with copy_of_the_source() as made:
        yield made


def test_the_entries_fit_the_code() -> None:
    problems = {mutation.promise: mutation.problem(ROOT) for mutation in ALL}
    assert {promise: problem for promise, problem in problems.items() if problem is not None} == {}


def test_there_is_a_sample() -> None:
    assert {mutation.tests for mutation in SAMPLE} == set(QUICK)


def test_no_promise_is_named_twice() -> None:
    promises = [(mutation.file, mutation.promise) for mutation in ALL]
    assert len(set(promises)) == len(promises)


@pytest.mark.slow
@pytest.mark.parametrize("mutation", SAMPLE, ids=lambda mutation: mutation.promise)
def test_a_broken_promise_is_noticed(mutation: Mutation, copy: Path) -> None:
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


@pytest.mark.slow
def test_a_test_that_fails_without_a_mutation_is_reported(copy: Path) -> None:
    check_that_they_pass(["tests/unit/sms/test_gsm7.py"], copy)
    broken = copy / "tests/unit/sms/test_broken.py"
    broken.write_text("def test_it() -> None:\n    raise AssertionError\n")
    try:
        with pytest.raises(RuntimeError, match="fails without a mutation"):
            check_that_they_pass(["tests/unit/sms/test_gsm7.py", "tests/unit/sms/test_broken.py"], copy)
    finally:
        broken.unlink()


def test_entries_that_do_not_fit_are_reported(tmp_path: Path) -> None:
    (tmp_path / "code.py").write_text("a = 1\na = 1\nb = 2\n")
    (tmp_path / "test_code.py").write_text("")

    def problem(**changes: object) -> str | None:
        entry = {"promise": "p", "file": "code.py", "old": "b = 2", "new": "b = 3", "tests": ("test_code.py",)}
        return Mutation(**{**entry, **changes}).problem(tmp_path)  # type: ignore[arg-type]

    assert problem() is None
    assert problem(file="none.py") == "none.py does not exist"
    assert problem(old="a = 1") == "`old` occurs 2 times in code.py"
    assert problem(new="b = 2") == "`old` and `new` are the same"
    assert problem(new="b =") == "`new` leaves code.py without valid syntax"
    assert problem(tests=()) == "it needs either `tests` or `equal`"
    assert problem(tests=("test_none.py::test_it",)) == "test_none.py does not exist"
