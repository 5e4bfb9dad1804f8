"""docs/reference/carriers.md tells of every setting of an http carrier, and its examples work."""

import re
import tomllib
from dataclasses import fields
from pathlib import Path

import pytest

from shared.carriers.http.config import Callback, HttpConfig, InboundMessage, Poll, Receipts, Request, ResponseFormat
from shared.carriers.http.file import of_table

DOCS = Path(__file__).parents[4] / "docs" / "reference" / "carriers.md"
SECTION = DOCS.read_text().split("\n## HTTP\n")[1].split("\n## ")[0]
SECRETS = {"TWILIO_TOKEN": "a", "CARRIER_KEY": "b", "CARRIER_SECRET": "c"}


def test_every_setting_is_documented() -> None:
    documented = set(re.findall(r"`([a-z_0-9]+)`", " ".join(re.findall(r"^\| (`[^|]+) \|", SECTION, re.M))))
    assert {each.name for each in fields(HttpConfig)} - {"name"} <= documented


@pytest.mark.parametrize("table", [Request, ResponseFormat, Receipts, InboundMessage, Callback, Poll])
def test_every_setting_of_a_table_is_named(table: type) -> None:
    prose = re.sub(r"```.*?```", "", SECTION, flags=re.S)
    documented = set(re.findall(r"[a-z_0-9]+", " ".join(re.findall(r"`[^`]+`", prose))))
    assert {each.name for each in fields(table)} <= documented


@pytest.mark.parametrize("example", re.findall(r"```toml\n(.*?)```", SECTION, re.S))
def test_the_examples_work(example: str) -> None:
    ((name, table),) = tomllib.loads(example)["carrier"].items()
    assert of_table(name, table, SECRETS).callback is not None
