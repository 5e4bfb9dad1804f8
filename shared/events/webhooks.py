"""Secrets and signatures of webhooks, by Standard Webhooks 1.0.

Secrets are not stored but derived from the installation's SECRET_KEY, the webhook and the version of the secret. So a
copy of the database cannot sign, and the response to a repeated request can be recreated.
"""

import hashlib
import hmac
from base64 import b64encode
from collections.abc import Iterable, Sequence
from uuid import UUID

from sqlalchemy import Connection, and_, not_, select
from sqlalchemy.dialects.postgresql import insert

from shared.api_key import secret_key_id
from shared.db.expressions import in_constants
from shared.db.tables.base import THIS_TRANSACTION
from shared.db.tables.webhooks import webhook
from shared.events.stream import Position
from shared.ids import LAST_ID, new_id

IS_CALLBACK = and_(webhook.c.url.is_(None), not_(in_constants(webhook.c.state, "deleted")))
CALLBACKS = (
    insert(webhook)
    .values(xid=THIS_TRANSACTION, event_id=LAST_ID)
    .on_conflict_do_nothing(index_elements=["account_id"], index_where=IS_CALLBACK)
)
HERE = select(THIS_TRANSACTION)


def secret(secret_key: str, webhook: UUID, version: int) -> bytes:
    """The signing secret of a webhook, 32 bytes."""
    return hmac.digest(secret_key.encode(), b"webhook\0" + webhook.bytes + version.to_bytes(4, "big"), hashlib.sha256)


def key_of(secret_key: str, fallbacks: Sequence[str], key_id: bytes | None) -> str:
    """The SECRET_KEY that a webhook's secret was derived from; without its id, the oldest."""
    keys = (secret_key, *fallbacks)
    return next((key for key in keys if secret_key_id(key) == key_id), keys[-1])


def format_secret(secret: bytes) -> str:
    """A secret in the form for receivers."""
    return "whsec_" + b64encode(secret).decode()


def sign(secrets: Iterable[bytes], event: UUID, timestamp: int, body: bytes) -> str:
    """The header `webhook-signature`: a signature for each valid secret, newest first."""
    content = f"{event}.{timestamp}.".encode() + body
    return " ".join("v1," + b64encode(hmac.digest(key, content, hashlib.sha256)).decode() for key in secrets)


def current_position(connection: Connection) -> Position:
    """The position after this transaction: later events follow it."""
    return Position(connection.execute(HERE).scalar_one(), LAST_ID)


def open_callbacks(connection: Connection, account_id: int) -> None:
    """Create the account's webhook for the `callback_url` of sends, if it has none."""
    connection.execute(CALLBACKS, {"id": new_id(), "account_id": account_id})
