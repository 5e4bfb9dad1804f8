"""What a body may be, whatever it would cost to look at all of it."""

import json

import pytest

from api.http.json_body import MOST_KEYS, parse_object
from api.http.problems import Problem


def refused(raw: str) -> str:
    with pytest.raises(Problem) as caught:
        parse_object(raw.encode())
    assert caught.value.code == "invalid_json"
    return caught.value.detail


def an_object(keys: list[str]) -> str:
    return "{" + ",".join(f"{json.dumps(key)}:1" for key in keys) + "}"


def test_it_works() -> None:
    assert parse_object(b'{"a": {"b": [1, "c"]}}') == {"a": {"b": [1, "c"]}}


def test_the_first_key_that_comes_again_is_named() -> None:
    assert 'the key "b" is there twice' in refused(an_object(["a", "b", "c", "b", "a"]))


def test_as_many_keys_as_an_object_may_have() -> None:
    keys = [f"k{number}" for number in range(MOST_KEYS)]
    assert len(parse_object(an_object(keys).encode())) == MOST_KEYS
    assert "more than 1,000 keys" in refused(an_object([*keys, "one more"]))


def test_keys_without_number_are_not_compared() -> None:
    """The last one comes again: each would have been looked for among all the others."""
    keys = [f"k{number}" for number in range(50_000)]
    assert "more than 1,000 keys" in refused(an_object([*keys, keys[-1]]))
    assert "more than 1,000 keys" in refused('{"metadata": {"a": [' + an_object([*keys, keys[-1]]) + "]}}")
