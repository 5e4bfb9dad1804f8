"""Tries mutations: `python -m tests.mutations.run [--only TEXT] [--jobs 2]`.

Each is made in a copy of the source, and its tests are run there. A mutation that its tests do not notice is reported,
and the exit code is 1.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from tests.mutations.catalogue import Mutation, mutations

ROOT = Path(__file__).parent.parent.parent
COPIED = ("api", "worker", "shared", "bulksms", "bench", "clients", "deploy", "docs", "tests")
SECONDS = 600
"""After which the tests of one mutation are ended. A change that makes the code hang is noticed too."""
FAILED = 1
"""Pytest's exit code when tests have failed; others say that they could not be run."""


@contextmanager
def copy_of_the_source(root: Path = ROOT) -> Iterator[Path]:
    """A folder with the source, for one mutation."""
    with tempfile.TemporaryDirectory(prefix="bulksms-mutation-") as folder:
        copy = Path(folder)
        for name in COPIED:
            shutil.copytree(root / name, copy / name, ignore=shutil.ignore_patterns("__pycache__", "node_modules"))
        for file in root.iterdir():
            if file.is_file():
                shutil.copy(file, copy)
        copy.chmod(0o755)
        yield copy


def is_noticed(mutation: Mutation) -> bool:
    """Whether the tests fail with the mutation. Raises RuntimeError where they could not be run."""
    with copy_of_the_source() as copy:
        mutation.apply(copy)
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *mutation.tests]
        environ = {**os.environ, "PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
        try:
            ended = subprocess.run(command, cwd=copy, env=environ, capture_output=True, text=True, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            return True
    if ended.returncode not in (0, FAILED):
        raise RuntimeError(
            f"{mutation.promise}: the tests could not be run\n{ended.stdout[-2000:]}{ended.stderr[-500:]}"
        )
    return ended.returncode == FAILED


def main() -> int:
    """Try what is asked for; returns the exit code."""
    parser = argparse.ArgumentParser(description="Break each promise by a small change, and see that a test notices.")
    parser.add_argument("--only", default="", help="those whose promise or file contains this text")
    parser.add_argument("--jobs", type=int, default=2, help="how many at a time")
    options = parser.parse_args()
    chosen = [
        mutation
        for mutation in mutations()
        if mutation.tests and (options.only.lower() in f"{mutation.promise} {mutation.file}".lower())
    ]
    unnoticed = 0
    with ThreadPoolExecutor(options.jobs) as pool:
        for number, (mutation, noticed) in enumerate(zip(chosen, pool.map(is_noticed, chosen), strict=True), 1):
            unnoticed += not noticed
            outcome = "noticed" if noticed else "NOT NOTICED"
            print(f"{number}/{len(chosen)}  {outcome}  {mutation.file}: {mutation.promise}", flush=True)
    print(f"{len(chosen) - unnoticed} of {len(chosen)} mutations were noticed")
    return 1 if unnoticed else 0


if __name__ == "__main__":
    sys.exit(main())
