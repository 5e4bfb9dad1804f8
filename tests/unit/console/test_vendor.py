"""The scripts of others are those of the lock file, and are named with their licences."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
PACKAGES: list[dict[str, Any]] = json.loads((ROOT / "console" / "vendor.json").read_text())["packages"]
FILES = [file for package in PACKAGES for file in package["files"]]


@pytest.mark.parametrize("file", FILES, ids=lambda file: Path(file["to"]).name)
def test_each_file_is_the_one_that_was_fetched(file: dict[str, str]) -> None:
    assert hashlib.sha256((ROOT / file["to"]).read_bytes()).hexdigest() == file["sha256"]


def test_the_notice_names_each() -> None:
    notice = (ROOT / "NOTICE").read_text()
    for package in PACKAGES:
        assert package["version"] in notice and package["integrity"].startswith("sha512-")
        assert any(file["to"].endswith("LICENSE.txt") and file["to"] in notice for file in package["files"])
