"""Finding of `bulksms doctor` about SECRET_KEY: what needs SECRET_KEY_FALLBACKS or a key that is missing."""

from collections.abc import Sequence

from sqlalchemy import ARRAY, Connection, LargeBinary, Row, Text, bindparam, text

from shared.api_key import secret_key_id
from shared.health.finding import Finding
from shared.people.second_factor import totp_key_id
from shared.plurals import counted

UNDER_OTHER_KEYS = text(
    """
    SELECT (SELECT count(*) FROM api_key
             WHERE revoked_at IS NULL AND coalesce(expires_at > now(), true)
               AND (substring(secret_hash FOR 4) <> ALL (:keys)
                    OR (previous_until > now() AND substring(previous_hash FOR 4) <> ALL (:keys)))) AS api_keys,
           (SELECT count(*) FROM operator_key
             WHERE revoked_at IS NULL AND coalesce(expires_at > now(), true)
               AND substring(secret_hash FOR 4) <> ALL (:keys)) AS operator_keys,
           (SELECT count(*) FROM smpp_credential
             WHERE revoked_at IS NULL AND substring(password_hash FOR 4) <> ALL (:keys)) AS smpp,
           (SELECT count(*) FROM webhook
             WHERE state <> 'deleted'
               AND (secret_key_id <> ALL (:keys) OR (:former AND previous_until > now()))) AS webhooks,
           (SELECT count(*) FROM person
             WHERE state = 'active' AND totp_secret NOT LIKE ALL (:totp_keys)) AS people
    """
).bindparams(bindparam("keys", type_=ARRAY(LargeBinary)), bindparam("totp_keys", type_=ARRAY(Text)))
"""What none of the keys opens. `former` also counts webhooks that still sign with a former secret too. Webhooks created
by a `callback_url` count once they are rotated: nobody has seen their first secret."""


def check_secret_key(connection: Connection, secret_key: str, fallbacks: Sequence[str] = ()) -> Finding:
    """Count what no key opens; else what would break if the fallbacks were removed.

    Counts API keys, operator keys, SMPP credentials, webhooks and TOTP secrets.
    """
    lost = _under_other_keys(connection, (secret_key, *fallbacks), former=False)
    if any(lost):
        remedy = (
            "Their secrets do not work. Add the former SECRET_KEY to SECRET_KEY_FALLBACKS, here and in every process;"
            " if it has leaked, rotate or revoke what is left: docs/operating/rotate-secrets.md."
        )
        return Finding("secret key", "wrong", f"{_counted(lost)} need a key that is not set here", remedy)
    if not fallbacks:
        return Finding("secret key", "ok", "nothing needs a former one")
    waiting = _under_other_keys(connection, (secret_key,), former=True)
    if not any(waiting):
        remedy = "Remove SECRET_KEY_FALLBACKS 24 hours after SECRET_KEY was changed: tokens are valid for that long."
        return Finding(
            "secret key", "notice", "no API key, webhook or person needs SECRET_KEY_FALLBACKS any more", remedy
        )
    remedy = (
        "An API key needs it until its next POST /auth/token or bulksms key rotate, an SMPP credential until it binds,"
        " a webhook until 24 hours after its owner's POST /api/v1/webhooks/ID/rotate-secret, a person until they next"
        " sign in with a code."
    )
    return Finding("secret key", "notice", f"{_counted(waiting)} still need SECRET_KEY_FALLBACKS", remedy)


def _under_other_keys(connection: Connection, keys: Sequence[str], *, former: bool) -> Row[int, int, int, int, int]:
    values = {
        "keys": [secret_key_id(key) for key in keys],
        "totp_keys": [f"_{totp_key_id(key)}:%" for key in keys],
        "former": former,
    }
    return connection.execute(UNDER_OTHER_KEYS, values).one()


def _counted(row: Row[int, int, int, int, int]) -> str:
    of_operators = f"{counted(row.operator_keys, 'operator key')}, " if row.operator_keys else ""
    of_operators += f"{counted(row.smpp, 'SMPP credential')}, " if row.smpp else ""
    people = counted(row.people, "person", "people")
    return (
        f"{of_operators}{counted(row.api_keys, 'API key')}, {counted(row.webhooks, 'webhook')} and {people} with TOTP"
    )
