"""docs/reference/carriers.md tells of every setting, with its default."""

import re
from dataclasses import fields
from pathlib import Path

from worker.carriers.smpp.config import SmppConfig

DOCS = Path(__file__).parents[4] / "docs" / "reference" / "carriers.md"
SECTION = DOCS.read_text().split("\n## SMPP 3.4\n")[1].split("\n## ")[0]


def test_every_setting_is_documented_and_no_other() -> None:
    rows = [line for line in SECTION.splitlines() if line.startswith("| `")]
    documented = {name for row in rows for name in re.findall(r"`([a-z_]+)`", row.split("|")[1])}
    assert documented == {each.name for each in fields(SmppConfig)} - {"name"}


def test_the_numbers_are_the_defaults() -> None:
    defaults = {each.name: each.default for each in fields(SmppConfig)}
    for name in ("window", "rate", "response_timeout", "registered_delivery", "receipt_utc_offset"):
        row = next(line for line in SECTION.splitlines() if line.startswith(f"| `{name}`"))
        assert row.split("|")[2].strip() == f"{defaults[name]:g}"
