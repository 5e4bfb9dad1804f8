"""Notes of the mark in a file: whether it can be written is found out when a worker starts."""

import errno
import json
from pathlib import Path
from uuid import uuid4

import pytest

from shared.guard import Note, Notes
from shared.guard.notes import FULL
from shared.settings import SettingsError

HERE = uuid4()


def test_a_file_that_can_be_written_keeps_its_marks(tmp_path: Path) -> None:
    notes = Notes(None, tmp_path / "mark.json")
    notes.require_writable()
    assert notes.in_file(HERE) == Note(0)
    notes.write(HERE, 7)
    notes.require_writable()
    assert notes.in_file(HERE) == Note(7)
    assert [each.name for each in tmp_path.iterdir()] == ["mark.json"]
    Notes(None, None).require_writable()


@pytest.mark.parametrize("name", ["missing/mark.json", "file/mark.json", "."])
def test_a_file_that_can_never_be_written_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SettingsError, match="cannot be written"):
        Notes(None, tmp_path / name).require_writable()
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("reason", FULL)
def test_a_full_disk_keeps_no_worker_from_starting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reason: int
) -> None:
    def fail(_: int) -> None:
        raise OSError(reason, "full")

    monkeypatch.setattr("os.fsync", fail)
    notes = Notes(None, tmp_path / "mark.json")
    notes.require_writable()
    notes.write(HERE, 7)
    assert list(tmp_path.iterdir()) == [] and notes.in_file(HERE).mark is None
    monkeypatch.setattr("shared.guard.notes.FULL", (errno.EXDEV,))
    with pytest.raises(SettingsError):
        notes.require_writable()


def test_why_a_mark_is_not_known(tmp_path: Path) -> None:
    file = tmp_path / "mark.json"
    notes = Notes(None, file)
    assert notes.in_redis(HERE) == Note(None, "not used")
    assert notes.in_file(HERE) == Note(None, "cannot be read: No such file or directory")
    assert Notes(None, None).in_file(HERE) == Note(None, "GUARD_FILE is not set")
    for content in ("[]", "null", "{"):
        file.write_text(content)
        assert notes.in_file(HERE) == Note(None, "cannot be read: it is not a JSON object")
    file.write_text(json.dumps({str(HERE): "7"}))
    assert notes.in_file(HERE) == Note(0)
