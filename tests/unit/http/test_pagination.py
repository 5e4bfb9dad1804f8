"""A cursor has any text that a row may have, and nothing else is accepted as one."""

import base64

import pytest

from api.http.pagination import from_cursor, list_cursor, number_cursor, to_cursor
from api.problems import Problem


@pytest.mark.parametrize("octets", [b"\0", b"a\0b", b"\xff", b"\xed\xa0\x80"], ids=["NUL", "in it", "octet", "half"])
def test_a_cursor_that_no_row_can_have_is_refused(octets: bytes) -> None:
    with pytest.raises(Problem):
        from_cursor(base64.urlsafe_b64encode(octets).decode().rstrip("="))


@pytest.mark.parametrize("position", ['["\\u0000"]', '["\\ud800"]', "[1]", "[]", "{}", "no JSON"])
def test_a_cursor_that_is_not_a_list_of_texts_is_refused(position: str) -> None:
    with pytest.raises(Problem):
        list_cursor(to_cursor(position), 1)


@pytest.mark.parametrize("position", ["", "-1", "²", "٣", "9" * 19])
def test_a_cursor_that_is_not_a_number_is_refused(position: str) -> None:
    with pytest.raises(Problem):
        number_cursor(to_cursor(position), 0)
    assert number_cursor(to_cursor("9" * 18), 0) == 10**18 - 1
