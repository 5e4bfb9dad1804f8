"""The `callback_url` of a send: its events go there, by the account's webhook for such, besides its other webhooks."""

from sqlalchemy import text

from api.http.problems import invalid
from api.services import Services
from shared.db.connection import reading, transaction
from shared.events.webhook_urls import url_problem
from shared.events.webhooks import open_callbacks
from shared.outbox import listen

HAS_CALLBACKS = text(
    "SELECT EXISTS (SELECT FROM webhook WHERE account_id = :account AND url IS NULL AND state <> 'deleted')"
)


def check_callback(services: Services, url: str) -> None:
    """Raise Problem for a URL that this installation does not post to."""
    problem = url_problem(url, services.settings.webhook_loopback)
    if problem is not None:
        raise invalid([{"pointer": "/callback_url", "code": "invalid_url", "detail": problem}])


def expect_callbacks(services: Services, account: int) -> None:
    """Start recording events for the callbacks of sends accepted from now on. Takes a second the first time."""
    listen(services.engine, account)
    with reading(services.engine) as connection:
        if connection.execute(HAS_CALLBACKS, {"account": account}).scalar():
            return
    with transaction(services.engine) as connection:
        open_callbacks(connection, account)
