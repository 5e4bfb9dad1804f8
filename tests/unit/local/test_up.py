"""What keeps `bulksms up` from starting is said in one sentence."""

import errno
import os
from pathlib import Path

import pytest

from bulksms.local import up as module
from bulksms.local.files import write_private
from bulksms.local.ports import free_port
from bulksms.local.up import up


def sentence(capsys: pytest.CaptureFixture[str]) -> str:
    return capsys.readouterr().err.strip()


def full(*_: object) -> int:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_the_api_and_the_console_need_a_port_each(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    port = free_port()
    assert up(tmp_path, port, 1, console_port=port) == 1
    assert sentence(capsys).startswith(f"The API has port {port}. Give the console another: make run CONSOLE_PORT=")
    assert up(tmp_path, 65535, 1) == 1
    assert sentence(capsys).startswith("No port follows 65535, so give the console one: make run CONSOLE_PORT=")
    assert not (tmp_path / "var").exists()


def test_a_folder_that_cannot_be_made(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "var").write_text("a file")
    assert up(tmp_path, free_port(), 1) == 1
    assert sentence(capsys) == f"{tmp_path / 'var'} cannot be used: File exists."


@pytest.mark.parametrize("call", ["open", "fsync", "pwrite"])
def test_a_disk_without_room(
    call: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(module, "_run", lambda home, *_: write_private(home / "var" / "secret_key", "a key"))
    monkeypatch.setattr(os, call, full)
    assert up(tmp_path, free_port(), 1) == 1
    path = tmp_path / "var" / ("secret_key" if call == "fsync" else "")
    assert sentence(capsys) == f"{path} cannot be used: No space left on device."
