"""The queries of webhooks; changes of their state are in `shared/events/webhook_states.py`."""

from datetime import timedelta

from sqlalchemy import and_, bindparam, case, func, insert, select

from shared.db.tables.webhooks import webhook
from shared.events.webhook_states import UPDATE_WEBHOOK

OVERLAP = timedelta(hours=24)
"""How long the previous secret stays valid after a rotation."""

ROTATED = webhook.c.previous_until > func.clock_timestamp()
"""Whether posts are still signed with secrets from before a rotation."""
OLDEST_VERSION = func.coalesce(webhook.c.oldest_version, webhook.c.secret_version - 1)
FIELDS = (
    *webhook.c["id", "url", "events", "description", "state", "disabled_reason", "failing_since"],
    webhook.c.secret_version,
    case((ROTATED, webhook.c.previous_until)).label("previous_until"),
    webhook.c.created_at,
    webhook.c.updated_at,
    (1 + case((ROTATED, webhook.c.secret_version - OLDEST_VERSION), else_=0)).label("secrets"),
)
OF_ACCOUNT = and_(webhook.c.account_id == bindparam("account"), webhook.c.state != "deleted")
WEBHOOKS = select(*FIELDS).where(OF_ACCOUNT, webhook.c.id > bindparam("after")).order_by("id").limit(bindparam("limit"))
WEBHOOK = select(*FIELDS).where(OF_ACCOUNT, webhook.c.id == bindparam("id"))
LOCK = select(webhook.c.id).where(OF_ACCOUNT, webhook.c.id == bindparam("id")).with_for_update()
COUNT = select(func.count().label("all"), func.count().filter(webhook.c.url.is_(None)).label("callbacks")).where(
    OF_ACCOUNT
)
INSERT = insert(webhook)
ROTATE = UPDATE_WEBHOOK.values(
    secret_version=webhook.c.secret_version + 1,
    oldest_version=case((ROTATED, OLDEST_VERSION), else_=webhook.c.secret_version),
    previous_until=func.clock_timestamp() + OVERLAP,
    secret_key_id=bindparam("key"),
    updated_at=func.clock_timestamp(),
)
SECRET_KEY_ID = select(webhook.c.secret_key_id).where(webhook.c.id == bindparam("id"))
