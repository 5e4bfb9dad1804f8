"""A full disk is named, and not taken for a database that is away."""

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import psycopg
import pytest
from sqlalchemy import Engine, create_engine
from sqlalchemy.exc import OperationalError

from bulksms.environment import Installation
from shared.db.errors import is_disk_full
from shared.health import doctor, postgres
from shared.health.finding import Finding
from shared.settings import Settings

FULL = OperationalError("INSERT", None, psycopg.errors.DiskFull("could not extend file"))
UNAVAILABLE = OperationalError("SELECT", None, psycopg.OperationalError("connection refused"))
STOPPED = psycopg.OperationalError('FATAL: could not write file "pg_wal/x": No space left on device')


def test_it_works() -> None:
    assert is_disk_full(FULL) and is_disk_full(STOPPED)
    assert not is_disk_full(UNAVAILABLE)


@pytest.fixture
def full(monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk has 3 MiB left."""
    monkeypatch.setattr("shared.db.errors.shutil.disk_usage", lambda path: SimpleNamespace(free=3 << 20))


@pytest.mark.usefixtures("full")
def test_the_doctor_names_the_disk_and_not_postgres(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(engine: Engine) -> Iterator[None]:
        raise UNAVAILABLE

    monkeypatch.setattr(doctor, "reading", away)
    settings = Settings("postgresql+psycopg://x@127.0.0.1:1/x", "redis://127.0.0.1:1", "redis://127.0.0.1:1", "x" * 32)
    nowhere = create_engine("postgresql+psycopg://")
    found = {finding.name: finding for finding in doctor.examine(Installation(settings, "a test", tmp_path), nowhere)}
    assert found["postgres"] == Finding(
        "postgres", "wrong", "connection refused", f"The disk is full: 3 MiB are left at {tmp_path}. Make room."
    )
    assert found["disk"].outcome == "wrong"


def test_the_doctor_tries_to_write(monkeypatch: pytest.MonkeyPatch) -> None:
    def full_disk(engine: Engine) -> Iterator[None]:
        raise FULL

    monkeypatch.setattr(postgres, "transaction", full_disk)
    finding = postgres.check_writing(None)  # type: ignore[arg-type]
    assert (finding.outcome, finding.remedy) == ("wrong", postgres.DISK_FULL)
