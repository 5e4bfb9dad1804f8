"""Misspelt fields: the known one is named, and looked for only as often as somebody misspells."""

from typing import Any

import pytest
from marshmallow import ValidationError

from api.accept.schemas import SingleSend
from api.resources.contacts.entries import read_entries
from api.schemas import spelling
from api.schemas.errors import errors_of
from api.schemas.spelling import MAX_COMPARED, nearest_name
from shared.sms.numbering import numbering_of


@pytest.fixture
def compared(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names that were compared with the known ones."""
    names: list[str] = []

    def compare(name: str, *_: Any) -> list[str]:
        names.append(name)
        return []

    monkeypatch.setattr(spelling, "get_close_matches", compare)
    return names


def test_it_works() -> None:
    assert nearest_name("mesage", ("message", "phone")) == "message"
    assert nearest_name("xyz", ("message", "phone")) is None


@pytest.mark.parametrize(("unknown", "most"), [(15, MAX_COMPARED), (90, 0)])
def test_only_a_few_of_many_unknown_fields_are_compared(compared: list[str], unknown: int, most: int) -> None:
    schema = SingleSend()
    with pytest.raises(ValidationError) as caught:
        schema.load({f"mesage{number}": 1 for number in range(unknown)})
    errors = errors_of(schema, caught.value)
    assert len(errors) > unknown and len(compared) <= most
    assert bool(compared) == bool(most)


def test_only_a_few_of_many_contacts_are_compared(compared: list[str]) -> None:
    entries: list[object] = [{f"fone{number}": 1} for number in range(1_000)]
    assert len(read_entries(entries, numbering_of(None)).rejected) == 1_000
    assert len(compared) == MAX_COMPARED
