"""Accept a send, step by step:

sender       check that the account has the sender ID and that it is approved
times        when it is due, and when its messages expire
recipients   drop invalid, duplicate and suppressed ones
text         check that it can be sent, and count its segments
price        segments times what a segment costs each recipient
rules        its own, and the account's defaults
guards       against pumping, prices above the quote, and too many messages to one phone
commit       send, batches, reserve and idempotency key, in one durable transaction
publish      notify the workers, best effort
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from sqlalchemy import Connection, bindparam, func, select

from api.accept.callbacks import check_url, expect_callbacks
from api.accept.prices import SendPrices, prices_of_send
from api.accept.recipients import (
    check_pumping,
    count_recipients,
    personal_recipients_of,
    recipients_of,
    uncount_recipients,
)
from api.accept.stored_quotes import enforce_quote
from api.accept.text import common_text, parse_template, prepare_text, with_encoding
from api.auth.tokens import Caller
from api.commit.draft import Draft
from api.commit.low_balance import refused_reserve
from api.event_loop import NeedsThread, is_on_event_loop
from api.idempotency import IdempotentResponse, Key, replay_if_refused
from api.problems import Problem, invalid
from api.schemas.rules import canary_messages
from api.services import Services
from shared.accounts.limits import Limits
from shared.crashpoints import crashpoint
from shared.db.connection import reading
from shared.db.encryption_keys import texts_of
from shared.db.tables.accounts import sender_id
from shared.lifecycle import Category
from shared.sends.rules import Rules
from shared.task_publisher import TaskPublisher

OPTIONS_OF_DRAFT = frozenset({"reference", "metadata", "rate", "callback_url", "dlr_mask", "over_smpp", "part"})
"""What a draft has from its request as it is."""
MAX_COST = 2**63 - 1
"""What the database can count."""
VALIDITY = timedelta(hours=72)
"""Default time from when a send is due until its messages expire."""
TOLERANCE = timedelta(seconds=60)
"""How long ago a `send_at` may be and mean now: clocks differ, and requests take time. An older one is a mistake."""

SENDER_IN_OTHER_CASE = (
    select(sender_id.c.sender_id)
    .where(sender_id.c.account_id == bindparam("account"))
    .where(func.lower(sender_id.c.sender_id) == func.lower(bindparam("sender")))
    .limit(1)
)


class PendingSend:
    """A send to one phone that is being committed. `ready` completes after the commit; then call `finisher`."""

    __slots__ = ("_finish", "_queued", "_services", "ready")

    def __init__(
        self, services: Services, draft: Draft, finish: Callable[[IdempotentResponse], IdempotentResponse]
    ) -> None:
        self._services = services
        self._finish = finish
        self.ready, self._queued = services.commits.commit_async(draft)

    def finisher(self) -> Callable[[], IdempotentResponse]:
        """The function that publishes the send and returns its response. Raises the commit's error, or NeedsThread if
        certainly nothing was committed."""
        committed = None
        try:
            committed = self._queued.outcome()
        finally:
            if committed is None:
                uncount_recipients(self._services, self._queued.draft)
        if committed is None:
            raise NeedsThread
        return partial(self._finish, committed)


def accept(
    services: Services,
    caller: Caller,
    kind: str,
    body: dict[str, Any],
    key: Key | None = None,
    request_id: str | None = None,
    traceparent: str | None = None,
    also: Callable[[Connection, Draft], str] | None = None,
) -> IdempotentResponse | PendingSend:
    """Accept a send: `body` is loaded with the schema of its kind. A Problem means that it had no effect.

    Workers log the batches of a send with a `request_id`, and trace those of one with a `traceparent`.

    Its rows and its reserve are committed before the response. On an event loop the caller awaits the commit of a send
    to one phone; the other kinds need a thread. A repeated request gets the stored response even if it would be refused
    today. `also` writes what belongs to the send, in its transaction, and makes the response; it needs a thread.
    """
    try:
        limits = services.tokens.limits_of(caller.account_id)
        draft = validate_and_price(services, caller, limits, kind, body)
        check_pumping(services, limits, draft)
        if "quote_id" in body:
            enforce_quote(services, draft, body, body["quote_id"])
        if draft.callback_url is not None:
            expect_callbacks(services, caller.account_id)
        count_recipients(services, limits, draft)
    except Problem:
        stored = replay_if_refused(services.engine, key)
        if stored is None:
            raise
        is_whole = also is not None or body.get("over_smpp") is not None
        return stored if is_whole else with_encoding(stored, kind, body)
    draft.key, draft.request_id, draft.traceparent, draft.also = key, request_id, traceparent, also
    finish = partial(_finish, services, draft, body)
    grouped = draft.kind == "single" and also is None
    if grouped and is_on_event_loop():
        return PendingSend(services, draft, finish)
    try:
        committed = services.commits.commit(draft) if grouped else services.commits.commit_alone(draft)
    except Exception:
        uncount_recipients(services, draft)
        raise
    return finish(committed)


def _finish(
    services: Services, draft: Draft, body: dict[str, Any], committed: IdempotentResponse
) -> IdempotentResponse:
    """Publish a committed send and build its response."""
    crashpoint("accept.committed")
    if committed.replayed:
        uncount_recipients(services, draft)
    elif draft.send_at is None:
        _publish(services.tasks, draft)
    crashpoint("accept.published")
    if draft.also is not None or draft.over_smpp is not None:
        return committed
    if draft.segmentation.encoding == "ucs2" or body["on_unicode"] == "transliterate":
        return with_encoding(committed, draft.kind, body)
    return committed


def _publish(tasks: TaskPublisher, draft: Draft) -> None:
    """Notify the workers of a committed send that is due."""
    if draft.kind == "single":
        tasks.publish_single(draft.batch_ids[0])
    else:
        tasks.publish(draft.batch_ids or [draft.id])


def validate_and_price(services: Services, caller: Caller, limits: Limits, kind: str, body: dict[str, Any]) -> Draft:
    """Validate and price a send of an account with these `limits`.

    Raises Problem for any reason to refuse it, except credits and hourly limits.
    """
    check_sender(services, caller, body["sender_id"], body["category"])
    now = datetime.now(UTC)
    send_at = due_time(body.get("send_at"), now)
    expires_at = expiry_time(body.get("expires_at"), send_at or now, now)
    if body.get("callback_url") is not None:
        check_url(services, body["callback_url"], "/callback_url")
    prices = prices_of_send(services, caller, body, now)
    content = _message_and_recipients(services, caller, limits, kind, body, prices)
    draft = Draft(
        account_id=caller.account_id,
        api_key_id=caller.key_id,
        test=caller.test,
        simulated=services.settings.simulated,
        kind=kind,
        sender_id=body["sender_id"],
        category=body["category"],
        created_at=now,
        expires_at=expires_at,
        send_at=send_at,
        texts=services.texts if services.texts.checked else texts_of(services.engine),
        price_version_id=prices.version_id,
        **content,
        **{name: body[name] for name in OPTIONS_OF_DRAFT & body.keys()},
    )
    if kind != "single" and draft.cost > MAX_COST:
        with reading(services.engine) as connection:
            raise refused_reserve(connection, caller.account_id, draft.cost)
    add_rules(draft, body, services.account_cache.rules(caller.account_id))
    return draft


def check_sender(services: Services, caller: Caller, sender: str, category: Category) -> None:
    """Raise Problem unless the account's sender ID is approved and may be used for the category."""
    sender_state = services.account_cache.sender_state(caller.account_id, sender)
    if sender_state is None:
        raise _sender_not_registered(services, caller, sender)
    state, reason, authentication = sender_state
    if state != "approved":
        explanation = f": {reason}" if reason else "."
        raise Problem("sender_not_approved", f"The sender ID {sender!r} is {state}{explanation}", sender_status=state)
    if category == Category.AUTHENTICATION and not authentication:
        raise Problem(
            "category_not_allowed",
            f"Neither your account nor {sender!r} may send the category `authentication`.",
        )


def _sender_not_registered(services: Services, caller: Caller, sender: str) -> Problem:
    """The 403 for an unknown sender ID, with a hint if the account has it in another letter case."""
    with reading(services.engine) as connection:
        similar = connection.execute(SENDER_IN_OTHER_CASE, {"account": caller.account_id, "sender": sender}).scalar()
    hint = f" It has {similar!r}: sender IDs are case-sensitive." if similar else ""
    return Problem("sender_not_registered", f"Your account has no sender ID {sender!r}.{hint}")


def due_time(send_at: datetime | None, now: datetime) -> datetime | None:
    """When to send; None means now. Raises Problem validation_failed for a time more than 60 seconds ago."""
    if send_at is None or send_at > now:
        return send_at
    if send_at < now - TOLERANCE:
        detail = "`send_at` is more than 60 seconds ago. Use a future time, or omit it to send now."
        raise _invalid_time("/send_at", detail)
    return None


def expiry_time(expires_at: datetime | None, due: datetime, now: datetime) -> datetime:
    """When unsent messages expire. Raises Problem validation_failed for a time before the send is due."""
    if expires_at is None:
        return due + VALIDITY
    if expires_at <= now:
        raise _invalid_time("/expires_at", "`expires_at` must be in the future.")
    if expires_at <= due:
        detail = "The message would expire before it is due. Use an `expires_at` after `send_at`."
        raise _invalid_time("/expires_at", detail)
    return expires_at


def is_default(expires_at: datetime, send_at: datetime | None, created_at: datetime) -> bool:
    """Whether `expires_at` is the default, so that it moves with `send_at`."""
    return expires_at == (send_at or created_at) + VALIDITY


def _invalid_time(pointer: str, detail: str) -> Problem:
    return invalid([{"pointer": pointer, "code": "invalid_time", "detail": detail}])


def _message_and_recipients(
    services: Services, caller: Caller, limits: Limits, kind: str, body: dict[str, Any], prices: SendPrices
) -> dict[str, Any]:
    """The draft's message and recipients. Placeholders are resolved here if every recipient gets the same text."""
    common = common_text(kind, body)
    if common is not None:
        recipients, costs = recipients_of(services, caller, limits, kind, body, prices)
        message, segmentation = prepare_text(common, body, costs.total)
        if (part := body.get("part")) is not None:
            segmentation = replace(segmentation, encoding=part.encoding, count=1)
        priced = costs.of_text(segmentation.count, recipients.get("phones", []))
        return {"message": message, "segmentation": segmentation, **recipients, **priced}
    template = parse_template(body["message"])
    assert template is not None
    content = {"message": body["message"], "on_unicode": body["on_unicode"]}
    return content | personal_recipients_of(services, caller, limits, kind, body, prices, template)


def add_rules(draft: Draft, body: dict[str, Any], of_account: dict[str, Rules]) -> None:
    """Set the draft's rules: those of the request, and the account's defaults for the rest."""
    rules: Rules = {**of_account.get(draft.category, {})}
    if "quiet_hours" in body:
        rules["quiet"] = [body["quiet_hours"]["quiet_from"], body["quiet_hours"]["quiet_until"]]
    if "stop_if" in body:
        rules["stop_if"] = body["stop_if"]
    if "canary" in body:
        rules["canary"] = canary_messages(body["canary"], draft.accepted)
    draft.rules = rules or None
    if "quiet" in rules and draft.kind == "bulk":
        draft.split_by_zone()
