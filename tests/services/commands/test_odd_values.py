"""Odd values of arguments and odd files are refused in one sentence."""

import errno
import os
from pathlib import Path
from uuid import uuid4

import pytest

from tests.services.commands.conftest import Run

LATIN_1 = os.fsdecode(b"caf\xe9")
HUGE = "99999999999999999999999999"


def test_text_that_is_not_utf_8(run: Run) -> None:
    for command in (
        ("account", "show", LATIN_1),
        ("sender", "list", LATIN_1),
        ("audit-log", "--actor", LATIN_1),
        ("operator-key", "create", LATIN_1, "--scope", "read"),
    ):
        assert "'caf\\udce9' is not text in UTF-8." in run(*command, code=1).stderr
    assert "The database refuses a value" in run("account", "show", "a\0b", code=1).stderr
    for name in (LATIN_1, "a\0b"):
        assert "is not a valid account name" in run("account", "create", name, code=1).stderr


def test_numbers_out_of_range(run: Run, tmp_path: Path) -> None:
    acme = run("account", "create", f"account {uuid4()}", code=0).stdout.strip()
    (tmp_path / "report.csv").write_text("phone,status\n")
    for command in (
        ("account", "create", "other", "--weight", HUGE),
        ("account", "create", "other", "--weight", "0"),
        ("account", "create", "other", "--weight", "1001"),
        ("account", "create", "other", "--low-balance", HUGE),
        ("account", "create", "other", "--low-balance", "-1"),
        ("account", "set", acme, "--weight", 2**31),
        ("account", "set", acme, "--low-balance", HUGE),
        ("account", "set", acme, "--retention", "1" * 5000),
        ("account", "retention", acme, "1" * 5000),
        ("audit-log", "--before", HUGE),
        ("suppression", "list", acme, "--limit", HUGE),
        ("key", "create", acme, "--requests-per-second", HUGE),
        ("reconcile", tmp_path / "report.csv", "--carrier", "main", "--within", HUGE),
    ):
        assert "Usage: " in run(*command, code=2).stderr
    assert "3,650" in run("account", "retention", acme, "999999999", code=1).stderr.replace("3650", "3,650")


@pytest.mark.parametrize("rate", ["inf", "nan", "1e300", "-1"])
def test_rates_that_no_carrier_can_have(run: Run, rate: str) -> None:
    for command in (("carrier", "set", "main"), ("carrier", "limit", "sender ACME"), ("smsc",)):
        assert "--rate" in run(*command, "--rate", rate if command != ("smsc",) else "nan", code=2).stderr
    assert "--wait" in run("carrier", "test", "main", "254711000001", "--wait", "nan", code=2).stderr


def test_files_that_cannot_be_written(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "/nope/j: No such file or directory." in run("smsc", "--port", 0, "--journal", "/nope/j", code=1).stderr

    def fill_the_disk(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("bulksms.commands.archive.archive_weeks", fill_the_disk)
    result = run("archive", "write", tmp_path, "--before", "2026-01-05", code=1)
    assert f"Error: {tmp_path}: No space left on device.\n" in result.stderr


def a_group(run: Run) -> str:
    account = run("account", "create", f"account {uuid4()}", code=0).stdout.strip()
    return run("group", "create", account, "Customers", code=0).stdout.strip()


def test_rejected_rows_never_overwrite_the_list(run: Run, tmp_path: Path) -> None:
    group, file = a_group(run), tmp_path / "list.csv"
    content = "phone,name\n254733000001,a\nbad,b\n"
    file.write_text(content)
    (tmp_path / "link.csv").symlink_to(file)
    (tmp_path / "hard.csv").hardlink_to(file)
    for same in ("list.csv", "link.csv", "hard.csv"):
        result = run("group", "import", group, file, "--errors", tmp_path / same, code=1)
        assert "is the file to import. Name another one for rejected rows." in result.stderr
        assert file.read_text() == content


def test_rejected_rows_are_written_where_that_is_possible(run: Run, tmp_path: Path) -> None:
    group, file, report = a_group(run), tmp_path / "list.csv", tmp_path / "bad.csv"
    report.write_text("earlier")
    file.write_bytes(b"phone\n254733000001\n" + b"\xff" * 9)
    run("group", "import", group, file, "--errors", report, code=1)
    assert report.read_text() == "line,value,detail\n"
    file.write_text("phone\n254733000001\nbäd\n", encoding="utf-8")
    run("group", "import", group, file, "--errors", report, code=0)
    assert "bäd" in report.read_text(encoding="utf-8")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["bad.csv", "list.csv"]
    missing = tmp_path / "missing" / "bad.csv"
    result = run("group", "import", group, file, "--errors", missing, code=1)
    assert f"{missing} cannot be written: No such file or directory." in result.stderr
    result = run("group", "import", group, file, "--errors", "/dev/full", code=1)
    assert "/dev/full cannot be written: No space left on device." in result.stderr
