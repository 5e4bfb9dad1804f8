"""Erases a phone from rejected recipients, from events and the URLs of deliveries, and from the responses that are
stored for repeated requests."""

import re
from collections.abc import Sequence
from typing import Any
from uuid import UUID

import orjson
from sqlalchemy import Connection, bindparam, null, select, text, update

from shared.db.expressions import in_parameter
from shared.db.tables.events import event
from shared.db.tables.sends import idempotency
from shared.db.tables.webhooks import delivery, webhook
from shared.lifecycle import EventType
from worker.jobs.erasure_search import ACCOUNT, DIGITS, NATIONAL_DIGITS, NO_DIGITS, OF_CALLBACKS, OTHER_DIGITS

STORED_RESPONSE = (
    select(idempotency.c.response)
    .where(idempotency.c.account_id == ACCOUNT)
    .where(idempotency.c.path == bindparam("of_path"), idempotency.c.key == bindparam("of_key"))
    .with_for_update()
)
REWRITE_RESPONSE = (
    update(idempotency)
    .where(idempotency.c.account_id == ACCOUNT)
    .where(idempotency.c.path == bindparam("of_path"), idempotency.c.key == bindparam("of_key"))
    .values(response=bindparam("response"))
)

REJECTIONS = text(
    f"""
    UPDATE send_rejection r
       SET entries = (SELECT jsonb_agg(CASE WHEN e ->> 'suggestion' = :phone
                                              OR strpos(translate(regexp_replace(e ->> 'phone', '{NO_DIGITS}', '', 'g'),
                                                                  '{OTHER_DIGITS}', '{DIGITS}'),
                                                        right(:phone, {NATIONAL_DIGITS})) > 0
                                            THEN (e || '{{"phone": null}}') - 'suggestion' - 'detail' ELSE e END
                                       ORDER BY place)
                        FROM jsonb_array_elements(r.entries) WITH ORDINALITY AS a (e, place))
      FROM send s
     WHERE s.id = r.send_id AND s.account_id = :account AND r.send_id = ANY(:rejections)
    """
)
"""Removes rejected recipients that have the phone, as a national number or among others, or suggest it. In the
database, as a list may be long."""

LOCK_WEBHOOK = select(webhook.c.id).where(OF_CALLBACKS).with_for_update()
"""Before its deliveries, as whoever posts their events locks it."""
URLS = (
    update(delivery)
    .where(delivery.c.webhook_id == bindparam("webhook"), in_parameter(delivery.c.event_id, "deliveries"))
    .values(url="")
)
EVENTS = (
    update(event)
    .where(event.c.account_id == ACCOUNT, in_parameter(event.c.id, "events"))
    .values(type=EventType.MESSAGE_SENT, indexes=[], data=null())
)
"""Keeps the rows, because readers may go on from them: as events of no message, so no release shows them."""


def erase_rejections(connection: Connection, sends: Sequence[UUID], subject: dict[str, Any]) -> None:
    """Erase rejected recipients of sends of the `account` that have the `phone` or suggest it."""
    connection.execute(REJECTIONS, {**subject, "rejections": sends})


def erase_events(connection: Connection, events: Sequence[UUID], account_id: int) -> None:
    """Erase what events say."""
    connection.execute(EVENTS, {"account": account_id, "events": events})


def erase_urls(connection: Connection, deliveries: Sequence[UUID], account_id: int) -> None:
    """Erase the URLs of deliveries to the `callback_url` of sends, given by their events."""
    webhook_id = connection.execute(LOCK_WEBHOOK, {"account": account_id}).scalar()
    connection.execute(URLS, {"webhook": webhook_id, "deliveries": deliveries})


def erase_response(connection: Connection, key: dict[str, Any], phone: str) -> None:
    """Replace the phone by null in the response stored under a key: its `account`, `of_path` and `of_key`."""
    stored = connection.execute(STORED_RESPONSE, key).scalar()
    if stored is not None:
        response = orjson.dumps(_without(orjson.loads(stored), phone)).decode()
        connection.execute(REWRITE_RESPONSE, {**key, "response": response})


def _without(response: Any, phone: str) -> Any:
    """A response with the phone replaced by null, its own `reference`, and suggestions of it for misspelled numbers."""
    if isinstance(response, list):
        return [_without(each, phone) for each in response]
    if not isinstance(response, dict):
        return None if response == phone else response
    if response.get("phone") == phone and "reference" in response:
        response = {**response, "reference": None}
    if "code" in response and _has_or_suggests(response, phone):
        response = {**response, "phone": None, "suggestion": None, "detail": None}
    return {name: _without(value, phone) for name, value in response.items()}


def _has_or_suggests(rejected: dict[str, Any], phone: str) -> bool:
    digits = re.sub(NO_DIGITS, "", str(rejected.get("phone"))).translate(str.maketrans(OTHER_DIGITS, DIGITS))
    return rejected.get("suggestion") == phone or phone[-NATIONAL_DIGITS:] in digits
