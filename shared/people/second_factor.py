"""The second factor of a sign-in: TOTP, or one of ten recovery codes.

TOTP is that of RFC 6238 as authenticator apps expect it: six digits, 30 seconds, HMAC-SHA-1.

TOTP secrets are encrypted under a key derived from SECRET_KEY. After a change of it, each is encrypted under the new
one when it is next used. Of recovery codes only hashes are stored. Each code is accepted once.
"""

import hashlib
import hmac
import logging
import secrets
import time
from base64 import b32decode, b32encode
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote, urlencode
from uuid import UUID

from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.twofactor.hotp import HOTP
from sqlalchemy import Connection, Row, bindparam, delete, or_, update

from shared.accounts.audit_log import Actor, record
from shared.api_key import secret_key_id
from shared.db.tables.people import person, recovery_code
from shared.encryption import TextKey, TextKeyMissing, Texts, derive_key

log = logging.getLogger(__name__)

RECOVERY_CODES = 10
RECOVERY_BYTES = 10
"""Random bytes of a recovery code: 16 characters in base32, too many to be found from their hashes."""
GROUP = 4

WITHOUT_TOTP = {"totp_secret": None, "totp_pending": None, "totp_step": None}
"""The columns of a person without TOTP."""
USE_STEP = (
    update(person)
    .where(
        person.c.id == bindparam("of_person"),
        or_(person.c.totp_step.is_(None), person.c.totp_step < bindparam("step")),
    )
    .values(totp_step=bindparam("step"), totp_secret=bindparam("sealed"))
)
"""Uses up the codes of a time step and of those before it. Of two requests with one code, only one changes the row."""
USE_RECOVERY_CODE = delete(recovery_code).where(
    recovery_code.c.person_id == bindparam("person"), recovery_code.c.code_hash == bindparam("code_hash")
)
DIGITS = 6
STEP_SECONDS = 30
SKEW_STEPS = 1
"""Steps before and after the current one whose codes are accepted (RFC 6238 §5.2)."""
SECRET_BYTES = 20
"""As long as HMAC-SHA-1's output (RFC 4226 §4, R6)."""
ISSUER = "Bulk SMS"


def totp_key_id(secret_key: str) -> str:
    """The id under which a SECRET_KEY encrypts TOTP secrets."""
    return secret_key_id(secret_key).hex()


def totp_texts(secret_key: str, fallbacks: Sequence[str] = ()) -> Texts:
    """The encryption of TOTP secrets."""
    keys = [TextKey(totp_key_id(key), derive_key(key, b"totp secrets")) for key in (secret_key, *fallbacks)]
    return Texts(keys, checked=True)


def begin_totp(connection: Connection, person_id: UUID, texts: Texts) -> str:
    """Make a new secret for a person, to be confirmed by a code. Returns it."""
    secret = new_totp_secret()
    sealed = texts.seal(secret, of=person_id)
    connection.execute(update(person).where(person.c.id == person_id).values(totp_pending=sealed))
    return secret


def confirm_totp(
    connection: Connection, row: Row[Any], texts: Texts, code: str, *, by: Actor | None
) -> list[str] | None:
    """Switch TOTP on, if the code is of the pending secret; `row` is the locked person.

    Returns the recovery codes, which are shown only once, or None for a wrong code.
    """
    step = matching_step(texts.open(row.totp_pending, of=row.id), code)
    if step is None:
        return None
    values = {"totp_secret": row.totp_pending, "totp_pending": None, "totp_step": step}
    connection.execute(update(person).where(person.c.id == row.id).values(values))
    codes = [_new_recovery_code() for _ in range(RECOVERY_CODES)]
    connection.execute(delete(recovery_code).where(recovery_code.c.person_id == row.id))
    connection.execute(
        recovery_code.insert(),
        [{"person_id": row.id, "code_hash": _hash_of(row.id, each)} for each in codes],
    )
    record(connection, by, "person.totp_enabled", subject=row.id)
    return codes


def disable_totp(connection: Connection, person_id: UUID, *, by: Actor | None) -> None:
    """Switch TOTP off, and forget the recovery codes."""
    forget_second_factor(connection, person_id)
    record(connection, by, "person.totp_disabled", subject=person_id)


def forget_second_factor(connection: Connection, person_id: UUID) -> None:
    """Delete a person's TOTP secret and recovery codes."""
    connection.execute(update(person).where(person.c.id == person_id).values(WITHOUT_TOTP))
    connection.execute(delete(recovery_code).where(recovery_code.c.person_id == person_id))


def use_code(connection: Connection, row: Row[Any], texts: Texts, code: str) -> bool:
    """Use up a TOTP or recovery code; `row` is the locked person. Returns False if it is not valid, or was used."""
    return _use_totp(connection, row, texts, code.strip()) or _use_recovery_code(connection, row.id, code)


def _use_totp(connection: Connection, row: Row[Any], texts: Texts, code: str) -> bool:
    try:
        secret = texts.open(row.totp_secret, of=row.id)
    except TextKeyMissing:
        log.error("The TOTP secret of person %s is encrypted under a SECRET_KEY that this process lacks", row.id)
        return False
    step = matching_step(secret, code)
    if step is None:
        return False
    used = {"of_person": row.id, "step": step, "sealed": texts.seal(secret, of=row.id)}
    return connection.execute(USE_STEP, used).rowcount == 1


def _use_recovery_code(connection: Connection, person_id: UUID, code: str) -> bool:
    used = connection.execute(USE_RECOVERY_CODE, {"person": person_id, "code_hash": _hash_of(person_id, code)})
    return used.rowcount == 1


def _new_recovery_code() -> str:
    letters = b32encode(secrets.token_bytes(RECOVERY_BYTES)).decode().lower()
    return "-".join(letters[start : start + GROUP] for start in range(0, len(letters), GROUP))


def _hash_of(person_id: UUID, code: str) -> bytes:
    letters = "".join(code.split()).replace("-", "").lower()
    return hashlib.sha256(person_id.bytes + letters.encode("utf-8", "surrogatepass")).digest()


def new_totp_secret() -> str:
    """A random secret, in base32."""
    return b32encode(secrets.token_bytes(SECRET_BYTES)).decode()


def code_at(secret: str, step: int) -> str:
    """The code of a time step (RFC 4226 §5.3)."""
    return HOTP(b32decode(secret), DIGITS, SHA1()).generate(step).decode()


def matching_step(secret: str, code: str, now: float | None = None) -> int | None:
    """The time step that the code belongs to, if it is a current one. `now` is seconds since the epoch."""
    current = int((time.time() if now is None else now) // STEP_SECONDS)
    steps = range(current - SKEW_STEPS, current + SKEW_STEPS + 1)
    given = code.encode("utf-8", "surrogatepass")
    matching = [step for step in steps if hmac.compare_digest(code_at(secret, step).encode(), given)]
    return matching[-1] if matching else None


def uri_of(secret: str, email: str) -> str:
    """The `otpauth` address that authenticator apps read from a QR code."""
    label = quote(f"{ISSUER}:{email}", safe=":@")
    return f"otpauth://totp/{label}?{urlencode({'secret': secret, 'issuer': ISSUER}, quote_via=quote)}"
