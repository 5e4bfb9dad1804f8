"""Finding of `bulksms doctor` about a change of SECRET_KEY: what still depends on SECRET_KEY_FALLBACKS."""

from sqlalchemy import Connection, text

from shared.api_key import secret_key_id
from shared.health.finding import Finding
from shared.people.second_factor import totp_key_id

UNDER_FALLBACKS = text(
    """
    SELECT (SELECT count(*) FROM api_key
             WHERE revoked_at IS NULL AND coalesce(expires_at > now(), true)
               AND (octet_length(secret_hash) = 32 OR substring(secret_hash FOR 4) <> :key
                    OR (previous_until > now() AND (octet_length(previous_hash) = 32
                                                    OR substring(previous_hash FOR 4) <> :key)))) AS api_keys,
           (SELECT count(*) FROM operator_key
             WHERE revoked_at IS NULL AND coalesce(expires_at > now(), true)
               AND substring(secret_hash FOR 4) <> :key) AS operator_keys,
           (SELECT count(*) FROM webhook
             WHERE state <> 'deleted' AND NOT (url IS NULL AND secret_version = 1 AND secret_key_id IS NULL)
               AND (secret_key_id IS DISTINCT FROM :key OR previous_until > now())) AS webhooks,
           (SELECT count(*) FROM person
             WHERE state = 'active' AND totp_secret NOT LIKE '_' || :totp_key || ':%') AS people
    """
)
"""Webhooks created by a `callback_url` are excluded until rotated: nobody has seen their first secret."""


def check_secret_key(connection: Connection, secret_key: str) -> Finding:
    """Count the API keys, operator keys, webhooks and TOTP secrets that would break if the fallbacks were removed."""
    keys = {"key": secret_key_id(secret_key), "totp_key": totp_key_id(secret_key)}
    row = connection.execute(UNDER_FALLBACKS, keys).one()
    if not (row.api_keys or row.operator_keys or row.webhooks or row.people):
        remedy = "Remove SECRET_KEY_FALLBACKS, 24 hours after SECRET_KEY was changed: tokens live that long."
        return Finding(
            "secret key", "notice", "no API key, webhook or person needs SECRET_KEY_FALLBACKS any more", remedy
        )
    of_operators = f"{row.operator_keys:,} operator keys, " if row.operator_keys else ""
    detail = (
        f"{of_operators}{row.api_keys:,} API keys, {row.webhooks:,} webhooks and {row.people:,} people with TOTP"
        " still need SECRET_KEY_FALLBACKS"
    )
    remedy = (
        "An API key needs it until its next POST /auth/token or bulksms key rotate, a webhook until 24 hours after its"
        " owner's POST /api/v1/webhooks/ID/rotate-secret, a person until they next sign in with a code."
    )
    return Finding("secret key", "notice", detail, remedy)
