"""Encryption of texts in the database: messages of sends, values for placeholders, and received messages.

Without a key, texts are not encrypted. With one, each text is encrypted by AES-256-GCM under its own key, which is
derived from the installation's key and the row's id: a text can be read in its own row only, and no nonce is used twice
under a key. The stored form is MARK, the key's id, a colon, and base64 of nonce, text and tag. MARK is a control
character that no message may have, so texts that are not encrypted can be told apart.
"""

import hmac
import json
import os
from base64 import b64decode, b64encode
from collections.abc import Sequence
from typing import Any, Final, NamedTuple
from uuid import UUID

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

MARK: Final = "\x0e"
"""The first character of an encrypted text: shift out (ECMA-48 §8.3.128)."""
NONCE_BYTES: Final = 12
"""Length of a nonce in bytes, the one recommended for GCM (NIST SP 800-38D §5.2.1.1)."""


def derive_key(secret_key: str, purpose: bytes) -> bytes:
    """The key of 32 bytes that a SECRET_KEY has for this purpose (HMAC-SHA-256)."""
    return hmac.digest(secret_key.encode(), purpose, "sha256")


class TextKeyMissing(RuntimeError):
    """This process lacks the key of a text. The message names it and says what to do."""


class TextUnreadable(RuntimeError):
    """The encrypted text of the row `of` was changed, or belongs to another row."""

    def __init__(self, of: UUID | str) -> None:
        super().__init__(f"The text of {of} cannot be decrypted: it is not what was written there.")
        self.of = of


class TextKey(NamedTuple):
    """A key and its id. A key without a secret does not encrypt."""

    id: str
    secret: bytes


class Texts:
    """Encrypts with the first key, and decrypts with any of the keys.

    >>> texts = Texts([TextKey("2027", bytes(32))])
    >>> texts.open(texts.seal("Hello", of=send_id), of=send_id)
    'Hello'
    """

    def __init__(self, keys: Sequence[TextKey] = (), *, checked: bool = False) -> None:
        self.checked = checked
        """Whether the keys were compared with the database's (shared/db/encryption_keys.py)."""
        self._secrets = {key.id: key.secret for key in keys if key.secret}
        self.current = keys[0].id if keys and keys[0].secret else None
        """The id of the key that encrypts; None without encryption."""

    @property
    def ids(self) -> list[str]:
        """The ids of the keys."""
        return list(self._secrets)

    def seal(self, text: str, of: UUID | str) -> str:
        """Encrypt a text for the row with the id `of`. An empty text stays empty."""
        if self.current is None or not text:
            return text
        nonce = os.urandom(NONCE_BYTES)
        sealed = self._cipher(self.current, of).encrypt(nonce, text.encode("utf-8", "surrogatepass"), None)
        return f"{MARK}{self.current}:{b64encode(nonce + sealed).decode()}"

    def open(self, stored: str, of: UUID | str) -> str:
        """Decrypt the text of the row with the id `of`. Raises TextKeyMissing or TextUnreadable."""
        if not stored.startswith(MARK):
            return stored
        key, _, sealed = stored[1:].partition(":")
        if key not in self._secrets:
            raise TextKeyMissing(
                f"A text is encrypted with the key {key!r}, which TEXT_KEYS does not have here. Add it, and restart."
            )
        try:
            octets = b64decode(sealed, validate=True)
            return (
                self._cipher(key, of)
                .decrypt(octets[:NONCE_BYTES], octets[NONCE_BYTES:], None)
                .decode("utf-8", "surrogatepass")
            )
        except (ValueError, InvalidTag):
            raise TextUnreadable(of) from None

    def seal_json(self, value: object, of: UUID | str) -> str:
        """JSON for a column with structured texts; with encryption, a single string."""
        text = json.dumps(value)
        return text if self.current is None else json.dumps(self.seal(text, of))

    def open_json(self, stored: Any, of: UUID | str) -> Any:
        """The value of a column with structured texts. Raises TextKeyMissing or TextUnreadable."""
        return json.loads(self.open(stored, of)) if isinstance(stored, str) else stored

    def _cipher(self, key: str, of: UUID | str) -> AESGCM:
        return AESGCM(hmac.digest(self._secrets[key], f"text of {of}".encode(), "sha256"))


PLAIN: Final = Texts(checked=True)
"""No encryption."""
