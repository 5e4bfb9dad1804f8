"""Every text of the console is translated, and what is compiled is what was translated."""

import re
from pathlib import Path

import pytest
from babel.messages.catalog import Message

from console import texts

FILES = sorted(texts.TRANSLATIONS.glob("*/LC_MESSAGES/messages.po"))
PLACEHOLDER = re.compile(r"%\(\w+\)s|%%")


def forms(message: Message, of: str) -> tuple[str, ...]:
    value = getattr(message, of)
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def test_it_works() -> None:
    assert "New message" in texts.collect()
    assert [file.parent.parent.name for file in FILES] == ["de"]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.parent.parent.name)
def test_every_text_is_translated(file: Path) -> None:
    catalog = texts.read(file)
    collected = {message.id for message in texts.collect() if message.id}
    assert {message.id for message in catalog if message.id} == collected, "run `make texts`"
    for message in catalog:
        if message.id:
            assert all(forms(message, "string")), message.id
            assert not message.fuzzy, message.id


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.parent.parent.name)
def test_translations_have_the_same_placeholders(file: Path) -> None:
    for message in texts.read(file):
        wanted = set(PLACEHOLDER.findall(forms(message, "id")[-1])) if message.id else set()
        for string in forms(message, "string") if message.id else ():
            assert set(PLACEHOLDER.findall(string)) == wanted, message.id


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.parent.parent.name)
def test_the_compiled_translations_are_up_to_date(file: Path) -> None:
    assert file.with_suffix(".mo").read_bytes() == texts.compiled(texts.read(file)), "run `make texts`"
