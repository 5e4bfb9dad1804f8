"""A formula that was defused is read back as it was."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.contacts.formulas import defused, restored


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("=1", "'=1"),
        ("a;=1", "a;'=1"),
        ("a; +1\n@b", "a;' +1\n'@b"),
        ("\n=1", "'\n'=1"),
        ("'=1", "''=1"),
        ("a;'-1", "a;''-1"),
        ("it's; 'quoted'", "it's; 'quoted'"),
        ("1-1 = 0", "1-1 = 0"),
    ],
)
def test_an_apostrophe_comes_before_each_formula(value: str, text: str) -> None:
    assert defused(value) == text
    assert restored(text) == value


@given(st.text("a'\";\t\r\n =-@\uff1d", max_size=12))
def test_every_value_is_read_back(value: str) -> None:
    assert restored(defused(value)) == value
