"""The `callback_url` of a send, which gets its events through the account's callback webhook.

That webhook has no URL. It exists once per account, in addition to the account's other webhooks.
"""

from sqlalchemy import bindparam, exists, select

from api.problems import invalid
from api.services import Services
from shared.db.connection import reading, transaction
from shared.db.tables.webhooks import webhook
from shared.events.webhook_urls import url_problem
from shared.events.webhooks import open_callbacks
from shared.outbox import listen, listening

HAS_CALLBACKS = select(
    exists().where(webhook.c.account_id == bindparam("account"), webhook.c.url.is_(None), webhook.c.state != "deleted")
)


def check_url(services: Services, url: str, pointer: str) -> None:
    """Raise Problem if this installation does not post to the URL, which is at the pointer of the body."""
    problem = url_problem(url, services.settings.webhook_loopback)
    if problem is not None:
        raise invalid([{"pointer": pointer, "code": "invalid_url", "detail": problem}])


def expect_callbacks(services: Services, account: int) -> None:
    """Record the account's events from now on, and create its callback webhook. Takes a second the first time.

    While it has this webhook, the account listens (worker/webhooks/prune.py), so the cache suffices.
    """
    with reading(services.engine) as connection:
        if account in listening(connection) and connection.execute(HAS_CALLBACKS, {"account": account}).scalar():
            return
    listen(services.engine, account)
    with transaction(services.engine) as connection:
        open_callbacks(connection, account)
