"""Tries mutations: `python -m tests.mutations.run [--kind written|owners] [--only TEXT] [--jobs 2]`.

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

from sqlalchemy import text

from shared.db.connection import make_engine
from tests.harness.servers import FOR_MANY_DATABASES, RUNNING_POSTGRES, make_migrated_postgres
from tests.mutations.catalogue import Mutation, mutations
from tests.mutations.generate import ROOT, Generated, owner_mutations

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
def mutated(copy: Path, mutation: Mutation | Generated) -> Iterator[None]:
    """The copy with this mutation, until the end of the block."""
    path = copy / mutation.file
    before = path.read_bytes()
    try:
        mutation.apply(copy)
        yield
    finally:
        path.write_bytes(before)


def check_that_they_pass(tests: Sequence[str], copy: Path) -> None:
    """Raises RuntimeError if one of these tests fails without a mutation: with one, its failure would prove nothing."""
    ended = run_tests(copy, "-x", *tests)
    if ended.returncode:
        raise RuntimeError(f"a test fails without a mutation\n{ended.stdout[-2000:]}{ended.stderr[-500:]}")


def is_noticed(mutation: Mutation | Generated, copy: Path) -> bool:
    """Whether the tests fail with the mutation. Raises RuntimeError where they could not be run."""
    with mutated(copy, mutation):
        try:
            ended = run_tests(copy, "-x", *mutation.tests)
        except subprocess.TimeoutExpired:
            return True
    if ended.returncode not in (0, FAILED):
        raise RuntimeError(
            f"{mutation.promise}: the tests could not be run\n{ended.stdout[-2000:]}{ended.stderr[-500:]}"
        )
    return ended.returncode == FAILED


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
    """Each mutation and whether it was noticed, as they are tried.

    Raises RuntimeError if a test of theirs fails without any of them.
    """
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
        for start in range(0, len(mutations), BETWEEN_DROPS):
            some = mutations[start : start + BETWEEN_DROPS]
            yield from zip(some, pool.map(partial(in_a_copy, is_noticed), some), strict=True)
            drop_databases()


def main() -> int:
    """Try the mutations that the arguments choose; returns the exit code."""
    parser = argparse.ArgumentParser(description="Break each promise by a small change, and see that a test notices.")
    parser.add_argument("--only", default="", help="those whose promise or file contains this text")
    parser.add_argument("--kind", choices=("written", "owners"), help="those of the catalogue, or the generated ones")
    parser.add_argument("--jobs", type=int, default=2, help="how many at a time")
    options = parser.parse_args()
    kinds: dict[str, Iterable[Mutation | Generated]] = {"written": mutations(), "owners": owner_mutations()}
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
