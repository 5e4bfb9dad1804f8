"""How much of a carrier's call is read."""

import pytest

from shared.carriers.http.callbacks import UnreadableCallback, fields_of
from shared.carriers.http.paths import identity, word


def test_a_form_has_a_thousand_fields() -> None:
    assert len(fields_of("&".join(f"f{number}=1" for number in range(1000)))) == 1000
    with pytest.raises(UnreadableCallback, match="1000"):
        fields_of("&".join(f"f{number}=1" for number in range(1001)))


def test_an_id_has_255_characters() -> None:
    assert identity("x" * 255) == "x" * 255
    assert identity("x" * 256) is None


def test_a_word_is_cut_at_255_characters() -> None:
    assert word("x" * 256) == "x" * 255
