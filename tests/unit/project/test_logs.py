"""What a log may hold."""

import json
import logging
import sys

import pytest

from shared.observability.logs import JsonLines, fields, scrub

SECRET = "smss_" + "a1" * 21 + "b_" + "c2" * 3


def line(message: str, error: Exception | None = None) -> dict[str, str]:
    try:
        if error is not None:
            raise error
        exc_info = None
    except Exception:
        exc_info = sys.exc_info()
    record = logging.LogRecord("x", logging.ERROR, __file__, 1, message, None, exc_info)
    written = JsonLines().format(record)
    assert "\n" not in written
    return dict(json.loads(written))


def test_it_works() -> None:
    assert line("to 254711000000")["message"] == "to 254*******00"


@pytest.mark.parametrize(
    ("message", "written"),
    [
        ("phone=254711000000.", "phone=254*******00."),
        ("+254711000000,254711000001", "+25********00,254*******01"),
        ("GET /messages?phone=%2B254711000000", "GET /messages?phone=%2B254*******00"),
        ("GET /messages?phone=%2b254711000000", "GET /messages?phone=%2b254*******00"),
        ("{'phone': '99312000000'}", "{'phone': '993******00'}"),
        (f"secret {SECRET}", "secret smss_…"),
        (f"secret {SECRET.replace('smss', 'ops')}", "secret ops_…"),
        ("Authorization: Bearer eyJhIjox.aZ8x1A.Qm9n", "Authorization: Bearer …"),
        ("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_…"),
        ("id 019cad1e-3f79-7a08-b3c6-912345678901 took 12345678 ns", None),
        ("1,234,567 messages in 0.1234567890123 s", None),
    ],
)
def test_phones_and_secrets_are_hidden_and_nothing_else(message: str, written: str | None) -> None:
    assert scrub(message) == (message if written is None else written)


REFUSED = (
    'duplicate key value violates unique constraint "uq_contact"\n'
    "DETAIL:  Failing row contains (x, a secret text\nof two lines).\nCONTEXT:  COPY message, line 1: a secret text"
)


def test_the_values_in_an_error_of_the_database_are_left_out() -> None:
    message = (
        f"{REFUSED}\n[SQL: INSERT INTO x]\n[parameters: {{'message': 'a secret text'}}]\n(Background on this error)"
    )
    for written in (line("it failed", ValueError(message))["traceback"], line(f"it failed: {message}")["message"]):
        assert 'violates unique constraint "uq_contact"' in written
        assert "[SQL: INSERT INTO x]" in written
        assert "secret" not in written and "two lines" not in written


def test_the_words_of_an_exception_may_be_part_of_a_message() -> None:
    written = line(f"Task failed: {ValueError(REFUSED)!r}")["message"]
    assert written.startswith("Task failed: ValueError(") and "uq_contact" in written
    assert "secret" not in written and "two lines" not in written


def test_other_causes_of_an_error_are_still_logged() -> None:
    error = KeyError("what came of it")
    error.__cause__ = ValueError(REFUSED)
    written = line("it failed", error)["traceback"]
    assert "what came of it" in written and "uq_contact" in written
    assert "secret" not in written and "two lines" not in written


def test_one_record_is_one_line_whatever_it_contains() -> None:
    assert line('a\r\n{"level": "info"}\u2028\x00')["message"] == 'a\r\n{"level": "info"}\u2028\x00'


def test_members_of_a_line_are_hidden_like_its_message() -> None:
    record = logging.makeLogRecord({"msg": "request", **fields(request_id="254711000000", status=200, account=None)})
    written = json.loads(JsonLines().format(record))
    assert written["request_id"] == "254*******00" and written["status"] == 200 and "account" not in written
