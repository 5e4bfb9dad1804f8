"""How much of a carrier's call is read, and in which charset."""

import pytest

from shared.carriers.http.callbacks import UnreadableCallback, document_of, fields_of
from shared.carriers.http.paths import identity, word


def test_a_form_has_a_thousand_fields() -> None:
    assert len(fields_of("&".join(f"f{number}=1" for number in range(1000)))) == 1000
    with pytest.raises(UnreadableCallback, match="1000"):
        fields_of("&".join(f"f{number}=1" for number in range(1001)))


@pytest.mark.parametrize(
    ("charset", "written", "text"),
    [
        ("", "ARR%C3%8AT", "ARRÊT"),
        ("", "ARR%CAT", "ARRÊT"),
        ('; Charset="ISO-8859-5"', "%C1%C2%BE%BF", "СТОП"),
        ("; charset=iso-8859-5", "%D0%A1%D0%A2%D0%9E%D0%9F", "СТОП"),
        ("; charset=iso-8859-12", "%81", "\ufffd"),
        ("; charset=idna", "%CA", "Ê"),
        ("; charset=utf-8", "ARR%C3%8AT+%E2%82", "ARRÊT \ufffd"),
        ("; charset=UTF-8", "STOP+%E2%82", "STOP \ufffd"),
        ("", "ARR%C3%8AT+%E2%82", "ARRÊT \ufffd"),
    ],
)
def test_a_form_may_have_another_charset_than_utf8(charset: str, written: str, text: str) -> None:
    content_type = f"application/x-www-form-urlencoded{charset}"
    document = document_of(content_type, {}, f"from=Jos%C3%A9&text={written}".encode())
    assert document == {"from": "José", "text": text}


def test_an_id_has_255_characters() -> None:
    assert identity("x" * 255) == "x" * 255
    assert identity("x" * 256) is None


def test_a_word_is_cut_at_255_characters() -> None:
    assert word("x" * 256) == "x" * 255
