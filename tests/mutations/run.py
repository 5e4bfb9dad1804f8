"""Tries mutations: `python -m tests.mutations.run [--kind written|scopes|owners|bounds] [--only TEXT] [--jobs 2]`.

First the tests run without any mutation: they must pass. Then each mutation is made in a copy of the source, its tests
are run there, and it is taken back. A mutation that its tests do not notice is reported, and the exit code is 1.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import Any
from xml.etree import ElementTree

from sqlalchemy import text

from shared.db.connection import make_engine
from tests.harness.servers import FOR_MANY_DATABASES, RUNNING_POSTGRES, make_migrated_postgres
from tests.mutations.catalogue import Mutation, mutations
from tests.mutations.generate import KINDS, OF_SCOPE, ROOT, Generated

COPIED = ("api", "worker", "shared", "bulksms", "console", "bench", "clients", "deploy", "docs", "tests")
NOT_COPIED = shutil.ignore_patterns("*-pytest-*.pyc", "*.pyc.*", "node_modules")
"""Compiled modules are copied, except those that pytest has rewritten, as they hold the paths of their sources, and
those that are half written."""
LEFT = text("SELECT datname FROM pg_database WHERE datname LIKE 'test%'")
BETWEEN_DROPS = 10
TESTS_AT_ONCE = 10
"""How many of the tests that mutations name run together without a mutation."""
_postgres: dict[str, str] = {}
SECONDS = 600
"""After which the tests of one mutation are ended. A change that makes the code hang is noticed too."""
FAILED = 1
"""Pytest's exit code when tests have failed; others say that they could not be run."""
STEADY = {"test_the_scope_is_needed_and_is_enough", *OF_SCOPE.values()}
"""Tests of one route each, that the mutation of another route must not make fail."""


@contextmanager
def copy_of_the_source(root: Path = ROOT) -> Iterator[Path]:
    """A folder with the source, in which one mutation after the other is made."""
    with tempfile.TemporaryDirectory(prefix="bulksms-mutation-") as folder:
        copy = Path(folder)
        for name in COPIED:
            shutil.copytree(root / name, copy / name, ignore=NOT_COPIED)
        for file in root.iterdir():
            if file.is_file():
                shutil.copy(file, copy)
        copy.chmod(0o755)
        yield copy


@contextmanager
def mutated(copy: Path, mutations: Sequence[Mutation | Generated]) -> Iterator[None]:
    """The copy with these mutations, until the end of the block."""
    before = {copy / each.file: (copy / each.file).read_bytes() for each in mutations}
    try:
        for mutation in sorted(mutations, key=position, reverse=True):
            mutation.apply(copy)
        yield
    finally:
        for path, content in before.items():
            path.write_bytes(content)


def position(mutation: Mutation | Generated) -> tuple[str, int]:
    """Where it changes its file: of several generated ones, the last is made first, so that places stay right."""
    return mutation.file, mutation.place.start if isinstance(mutation, Generated) else 0


def check_that_they_pass(tests: Sequence[str], copy: Path) -> None:
    """Raises RuntimeError if one of these tests fails without a mutation: with one, its failure would prove nothing."""
    ended = run_tests(copy, "-x", *tests)
    if ended.returncode:
        raise RuntimeError(f"a test fails without a mutation\n{ended.stdout[-2000:]}{ended.stderr[-500:]}")


def is_noticed(mutation: Mutation | Generated, copy: Path) -> bool:
    """Whether the tests fail with the mutation. Raises RuntimeError where they could not be run."""
    with mutated(copy, [mutation]):
        try:
            ended = run_tests(copy, "-x", *mutation.tests)
        except subprocess.TimeoutExpired:
            return True
    if ended.returncode not in (0, FAILED):
        raise RuntimeError(
            f"{mutation.promise}: the tests could not be run\n{ended.stdout[-2000:]}{ended.stderr[-500:]}"
        )
    return ended.returncode == FAILED


def which_are_noticed(group: Sequence[Generated], copy: Path) -> list[bool]:
    """For each of a group, made together, whether its own test fails. Raises RuntimeError if a test of none does."""
    own = [mutation.tests[0] for mutation in group]
    report = copy / "report.xml"
    with mutated(copy, group):
        ended = run_tests(copy, f"--junitxml={report}", *sorted({test.partition("::")[0] for test in own}))
    if not report.exists():
        raise RuntimeError(f"the tests could not be run\n{ended.stdout[-2000:]}{ended.stderr[-500:]}")
    cases = list(ElementTree.parse(report).iter("testcase"))
    report.unlink()
    if any(case.find("error") is not None for case in cases):
        raise RuntimeError(f"a test could not be set up\n{ended.stdout[-2000:]}")
    failed = {str(case.get("name")) for case in cases if case.find("failure") is not None}
    names = [test.partition("::")[2] for test in own]
    if others := {name for name in failed if name.partition("[")[0] in STEADY and name not in names}:
        raise RuntimeError(f"these tests notice a mutation that is not theirs: {', '.join(sorted(others))}")
    return [name in failed for name in names]


def run_tests(copy: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run pytest in a copy of the source, without plugins that no test there needs, and with the Postgres of this
    process if it has one."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    environ = {**os.environ, "PYTHONPATH": str(copy), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", **_postgres}
    return subprocess.run(command, cwd=copy, env=environ, capture_output=True, text=True, timeout=SECONDS)


@contextmanager
def one_postgres() -> Iterator[None]:
    """A Postgres for the tests of all mutations: to start one takes longer than most of them."""
    with (
        tempfile.TemporaryDirectory(prefix="bulksms-mutations-") as folder,
        make_migrated_postgres(Path(folder), durable=False, more=FOR_MANY_DATABASES) as server,
    ):
        Path(folder).chmod(0o755)
        _postgres[RUNNING_POSTGRES] = server.start()
        try:
            yield
        finally:
            _postgres.clear()


def drop_databases() -> None:
    """Drop what tests have left in that Postgres."""
    engine = make_engine(_postgres[RUNNING_POSTGRES], pool=1)
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        for name in connection.execute(LEFT).scalars().all():
            connection.execute(text(f"DROP DATABASE {name} WITH (FORCE)"))
    engine.dispose()


def tried(mutations: Sequence[Mutation | Generated], jobs: int) -> Iterator[tuple[Mutation | Generated, bool]]:
    """Each mutation and whether it was noticed, as they are tried; those of a group first.

    Raises RuntimeError if a test of theirs fails without any of them.
    """
    groups: dict[str, list[Generated]] = {}
    alone = []
    for mutation in mutations:
        if isinstance(mutation, Generated) and mutation.group:
            groups.setdefault(mutation.group, []).append(mutation)
        else:
            alone.append(mutation)
    copies: SimpleQueue[Path] = SimpleQueue()

    def in_a_copy(attempt: Callable[[Any, Path], Any], of: Any) -> Any:
        copy = copies.get()
        try:
            return attempt(of, copy)
        finally:
            copies.put(copy)

    with ExitStack() as stack:
        stack.enter_context(one_postgres())
        for _ in range(jobs):
            copies.put(stack.enter_context(copy_of_the_source()))
        pool = stack.enter_context(ThreadPoolExecutor(jobs))
        tests = sorted({test for mutation in mutations for test in mutation.tests})
        parts = [tests[start : start + TESTS_AT_ONCE] for start in range(0, len(tests), TESTS_AT_ONCE)]
        for start in range(0, len(parts), jobs):
            list(pool.map(partial(in_a_copy, check_that_they_pass), parts[start : start + jobs]))
            drop_databases()
        all_of = pool.map(partial(in_a_copy, which_are_noticed), groups.values())
        for group, noticed in zip(groups.values(), all_of, strict=True):
            yield from zip(group, noticed, strict=True)
        for start in range(0, len(alone), BETWEEN_DROPS):
            some = alone[start : start + BETWEEN_DROPS]
            yield from zip(some, pool.map(partial(in_a_copy, is_noticed), some), strict=True)
            drop_databases()


def main() -> int:
    """Try the mutations that the arguments choose; returns the exit code."""
    parser = argparse.ArgumentParser(description="Break each promise by a small change, and see that a test notices.")
    parser.add_argument("--only", default="", help="those whose promise or file contains this text")
    parser.add_argument("--kind", choices=("written", *KINDS), help="those of the catalogue, or generated ones")
    parser.add_argument("--jobs", type=int, default=2, help="how many at a time")
    options = parser.parse_args()
    kinds: dict[str, Iterable[Mutation | Generated]] = {"written": mutations()}
    kinds |= {kind: generate() for kind, generate in KINDS.items()}
    chosen = [
        mutation
        for kind, all_ in kinds.items()
        for mutation in all_
        if options.kind in (None, kind) and mutation.tests
        if options.only.lower() in f"{mutation.promise} {mutation.file}".lower()
    ]
    unnoticed = 0
    for number, (mutation, noticed) in enumerate(tried(chosen, options.jobs), 1):
        unnoticed += not noticed
        outcome = "noticed" if noticed else "NOT NOTICED"
        print(f"{number}/{len(chosen)}  {outcome}  {mutation.file}: {mutation.promise}", flush=True)
    print(f"{len(chosen) - unnoticed} of {len(chosen)} mutations were noticed")
    return 1 if unnoticed else 0


if __name__ == "__main__":
    sys.exit(main())
