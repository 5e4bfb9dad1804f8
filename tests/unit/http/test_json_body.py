"""What a body may be, whatever it would cost to look at all of it."""

import json

import pytest

from api.http import json_body
from api.http.json_body import LARGE_BODY, MAX_KEYS, SMALL_BODY, parse_object
from api.problems import Problem


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
    assert 'the key "b" appears twice' in refused(an_object(["a", "b", "c", "b", "a"]))


def test_as_many_keys_as_an_object_may_have() -> None:
    keys = [f"k{number}" for number in range(MAX_KEYS)]
    assert len(parse_object(an_object(keys).encode())) == MAX_KEYS
    assert "more than 1,000 keys" in refused(an_object([*keys, "one more"]))


def test_too_many_keys_are_refused_without_comparing_them() -> None:
    """The last one comes again: each would have been looked for among all the others."""
    keys = [f"k{number}" for number in range(50_000)]
    assert "more than 1,000 keys" in refused(an_object([*keys, keys[-1]]))
    assert "more than 1,000 keys" in refused('{"metadata": {"a": [' + an_object([*keys, keys[-1]]) + "]}}")


def test_a_large_object_of_too_many_keys_is_refused_without_parsing_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The parser keeps the interpreter until the end of an object."""
    keys = [f"k{number}" for number in range(50_000)]
    monkeypatch.setattr(json_body, "DECODER", None)
    assert "more than 1,000 keys" in refused(an_object(keys))
    assert "more than 1,000 keys" in refused(an_object(keys).replace(":", " \t:"))


def test_colons_and_many_objects_are_no_keys_of_one_object() -> None:
    phones = ["254711000001"] * 10_000
    assert parse_object(json.dumps({"phones": phones, "message": ":" * 1600}).encode())["message"] == ":" * 1600
    recipients = [{"phone": phone, "variables": {"name": "Ann"}} for phone in phones]
    assert len(parse_object(json.dumps({"phones": recipients}).encode())["phones"]) == 10_000


@pytest.mark.parametrize("value", ["1", "[]", "{}", '""'])
@pytest.mark.parametrize("size", [SMALL_BODY, LARGE_BODY])
def test_a_body_full_of_tiny_values(value: str, size: int) -> None:
    """Each takes a hundred bytes of memory for every two of the body, and time in which nothing else runs."""
    room = size - len('{"phones":[]}')
    body = '{"phones":[' + ",".join([value] * (room // (len(value) + 1))) + "]}"
    assert len(body) <= size
    assert "values" in refused(body)


def test_as_many_contacts_as_one_request_may_have_are_not_too_many_values() -> None:
    contact = '{"phone":"254711000001","fields":{"a":"1","b":"2","c":"3"},"tags":["a","b","c"]}'
    assert len(parse_object(f'{{"contacts":[{",".join([contact] * 100_000)}]}}'.encode())["contacts"]) == 100_000
    few = f'{{"contacts":[{",".join([contact] * 780)}]}}'
    assert SMALL_BODY * 0.95 < len(few) <= SMALL_BODY
    assert len(parse_object(few.encode())["contacts"]) == 780


@pytest.mark.parametrize("wrong", ["1e999", "-1e999", str(2**63), str(-(2**63) - 1), '"\\u0000"', '"\\ud83d"'])
def test_a_value_that_cannot_be_stored_is_found_at_any_depth(wrong: str) -> None:
    for place in ('{"a":%s}', '{"a":[1,[2,{"b":["x",%s,true]}]]}', '{"a":[{"b":{"c":%s}},"x"]}'):
        assert "JSON body cannot be used" in refused(place % wrong)
    assert parse_object(f'{{"a":[{2**63 - 1},{-(2**63)},1.5,true,null,"\\ud83d\\ude00"]}}'.encode())


@pytest.mark.parametrize(("begin", "end"), [("[", "]"), ('{"a":', "}")])
def test_a_body_may_be_32_levels_deep(begin: str, end: str) -> None:
    assert parse_object(f'{{"a":{begin * 30}1{end * 30}}}'.encode())
    assert "32 levels" in refused(f'{{"a":{begin * 31}1{end * 31}}}')
