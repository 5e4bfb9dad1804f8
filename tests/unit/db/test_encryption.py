"""A text that is encrypted can be read in its row, with its key, and in no other way."""

from base64 import b64decode, b64encode
from uuid import uuid4

import pytest

from shared.encryption import MARK, PLAIN, TextKey, TextKeyMissing, Texts, TextUnreadable
from shared.settings import SettingsError, from_environment

FIRST, SECOND = TextKey("k1", b"1" * 32), TextKey("k2", b"2" * 32)
NEEDED = {"DATABASE_URL": "postgresql://h/d", "REDIS_URL": "redis://h", "SECRET_KEY": "x" * 32}


def setting(keys: str) -> tuple[TextKey, ...]:
    return from_environment({**NEEDED, "TEXT_KEYS": keys}).text_keys


@pytest.mark.parametrize("text", ["Hello", "Grüße 👋", "half \ud83d", "x" * 1600])
def test_it_works(text: str) -> None:
    texts, row = Texts([FIRST]), uuid4()
    sealed = texts.seal(text, row)
    assert sealed.startswith(f"{MARK}k1:") and text not in sealed
    assert texts.open(sealed, row) == text
    assert texts.seal(text, row) != sealed


def test_without_a_key_and_without_a_text_nothing_is_encrypted() -> None:
    row = uuid4()
    assert PLAIN.seal("Hello", row) == "Hello"
    assert Texts([TextKey("", b""), FIRST]).seal("Hello", row) == "Hello"
    assert Texts([FIRST]).seal("", row) == ""
    assert Texts([FIRST]).open("Hello", row) == "Hello"


def test_the_first_key_encrypts_and_all_decrypt() -> None:
    row = uuid4()
    both = Texts([SECOND, FIRST])
    assert both.open(Texts([FIRST]).seal("Hello", row), row) == "Hello"
    assert both.seal("Hello", row).startswith(f"{MARK}k2:")
    assert Texts([TextKey("", b""), FIRST]).open(Texts([FIRST]).seal("Hello", row), row) == "Hello"


def test_a_missing_key_is_named() -> None:
    sealed = Texts([FIRST]).seal("Hello", "row")
    for texts in (PLAIN, Texts([SECOND])):
        with pytest.raises(TextKeyMissing, match="'k1'"):
            texts.open(sealed, "row")


def test_a_changed_text_or_one_for_another_key_or_row_cannot_be_read() -> None:
    texts, row = Texts([FIRST]), uuid4()
    sealed = texts.seal("Hello", row)
    octets = b64decode(sealed.partition(":")[2])
    for place in (0, 12, len(octets) - 1):
        changed = octets[:place] + bytes([octets[place] ^ 1]) + octets[place + 1 :]
        with pytest.raises(TextUnreadable):
            texts.open(f"{MARK}k1:{b64encode(changed).decode()}", row)
    for kept, of in ((sealed, uuid4()), (sealed[:20], row), (f"{MARK}k1:", row), (f"{MARK}k1:?", row)):
        with pytest.raises(TextUnreadable):
            texts.open(kept, of)
    with pytest.raises(TextUnreadable):
        Texts([TextKey("k1", b"9" * 32)]).open(sealed, row)


def test_all_values_are_encrypted_as_one_text() -> None:
    texts, row = Texts([FIRST]), uuid4()
    values = [{"name": "Zoë Zimmermann"}, None]
    assert PLAIN.open_json(values, row) == values
    sealed = texts.seal_json(values, row)
    assert "Zimmermann" not in sealed
    assert texts.open_json(sealed[1:-1].replace("\\u000e", MARK), row) == values
    assert texts.open_json(None, row) is None


def test_the_setting() -> None:
    one, other = b64encode(FIRST.secret).decode(), b64encode(SECOND.secret).decode()
    assert setting("") == ()
    assert setting(f"k1:{one}") == (FIRST,)
    assert setting(f" k2:{other}, k1:{one}") == (SECOND, FIRST)
    assert setting(f"plain,k1:{one}") == (TextKey("", b""), FIRST)


@pytest.mark.parametrize(
    "keys",
    ["k1", "k1:", "k1:abc", f"k1:{b64encode(b'short').decode()}", f":{b64encode(b'1' * 32).decode()}", "a,plain"],
)
def test_a_setting_that_cannot_be_used_is_refused(keys: str) -> None:
    with pytest.raises(SettingsError, match="TEXT_KEYS"):
        setting(keys)


def test_a_key_is_named_once() -> None:
    one = b64encode(FIRST.secret).decode()
    for keys in (f"k1:{one},k1:{one}", f"k1:{one},plain"):
        with pytest.raises(SettingsError, match="once"):
            setting(keys)
