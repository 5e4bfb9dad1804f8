"""Accept a send, step by step:

sender       check that the account has the sender ID and that it is approved
text         check that it can be sent, and count its segments
recipients   drop invalid, duplicate and suppressed ones
price        segments times recipients
commit       send, batches, reserve and idempotency key, in one durable transaction
publish      notify the workers, best effort
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Any

from sqlalchemy import text

from api.accept.callback_url import check_callback, expect_callbacks
from api.accept.destinations import check_destination, check_pumping
from api.accept.encoding_report import report, with_encoding
from api.accept.exclusions import drop_excluded, opted_out
from api.accept.placeholders import (
    Variables,
    chunks_of_list,
    common_text,
    price_group,
    template_of,
    unpack,
    without,
)
from api.accept.quotes import enforce_quote
from api.accept.recipient_limits import count_recipients, uncount_recipients
from api.accept.schemas import MAX_PHONES
from api.accept.validity import due_time, expiry_time
from api.auth.tokens import Caller
from api.commit.draft import BATCH_SIZE, Draft
from api.commit.idempotency import IdempotentResponse, key_of_request, replay_if_repeated
from api.commit.rules import add_rules
from api.http.event_loop import PendingResponse
from api.http.problems import Problem, invalid
from api.http.request import current_request, is_on_event_loop
from api.http.request_cost import add_recipients
from api.http.responses import JsonResponse
from api.services import Services
from shared.crashpoints import crashpoint
from shared.db.connection import reading
from shared.db.encryption_keys import texts_of
from shared.lifecycle import Category
from shared.sends.templates import Template
from shared.sms.phones import Screened, screen
from shared.sms.segments import Segmentation, segment, transliterate
from shared.task_publisher import TaskPublisher

GROUP = text(
    """
    SELECT contact_count, last_position FROM contact_group
     WHERE id = :group AND account_id = :account AND deleted_at IS NULL
    """
)

SENDER_IN_OTHER_CASE = text(
    "SELECT sender_id FROM sender_id WHERE account_id = :account AND lower(sender_id) = lower(:sender) LIMIT 1"
)


def accept(services: Services, caller: Caller, kind: str, body: dict[str, Any]) -> JsonResponse | PendingResponse:
    """Accept a send. Its rows and its reserve are committed before the response. A Problem means that it had no effect.

    A repeated request gets the stored response even if it would be refused today.
    """
    key = key_of_request(caller, body)
    try:
        draft = validate_and_price(services, caller, kind, body)
        check_pumping(services, draft)
        if "quote_id" in body:
            enforce_quote(services, draft, body, body["quote_id"])
        count_recipients(services, draft)
    except Problem:
        with reading(services.engine) as connection:
            stored = replay_if_repeated(connection, key)
        if stored is None:
            raise
        return with_encoding(stored, kind, body).response()
    draft.key = key
    if draft.callback_url is not None:
        expect_callbacks(services, caller.account_id)
    finish = partial(_finish, services, draft, body)
    if draft.kind == "single" and is_on_event_loop():
        return services.commits.commit_async(draft, finish)
    try:
        answered = services.commits.commit(draft) if draft.kind == "single" else services.commits.commit_alone(draft)
    except Exception:
        uncount_recipients(services, draft)
        raise
    if not answered.replayed:
        current_request().recipients_priced = 0  # an accepted send is charged in credits, not in requests
    return finish(answered)


def _finish(services: Services, draft: Draft, body: dict[str, Any], answered: IdempotentResponse) -> JsonResponse:
    """Publish a committed send and build its response."""
    crashpoint("accept.committed")
    if answered.replayed:
        uncount_recipients(services, draft)
    elif draft.send_at is None:
        _publish(services.tasks, draft)
    crashpoint("accept.published")
    if draft.segmentation.encoding == "ucs2" or body["on_unicode"] == "transliterate":
        answered = with_encoding(answered, draft.kind, body)
    return answered.response()


def _publish(tasks: TaskPublisher, draft: Draft) -> None:
    """Notify the workers of a committed send that is due."""
    if draft.kind == "single":
        tasks.publish_single(draft.batches[0])
    elif draft.batches:
        tasks.publish(draft.batches)
    else:
        tasks.publish_expansion(draft.id)


def validate_and_price(services: Services, caller: Caller, kind: str, body: dict[str, Any]) -> Draft:
    """Validate and price a send. Raises Problem for any reason to refuse it, except credits and hourly limits."""
    check_sender(services, caller, body["sender_id"], body["category"])
    now = datetime.now(UTC)
    send_at = due_time(body.get("send_at"), now)
    expires_at = expiry_time(body.get("expires_at"), send_at or now, now)
    callback_url = body.get("callback_url")
    if callback_url is not None:
        check_callback(services, callback_url)
    content = _message_and_recipients(services, caller, kind, body)
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
        reference=body.get("reference"),
        metadata=body.get("metadata"),
        rate=body.get("rate"),
        callback_url=callback_url,
        texts=texts_of(services.engine),
        **content,
    )
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


def fit_text(message: str, body: Mapping[str, Any], recipients: int) -> tuple[str, Segmentation]:
    """The message as sent and its segments. Raises Problem if `on_unicode` or `max_segments` does not allow it."""
    if body["on_unicode"] == "transliterate":
        message = transliterate(message)
    segmentation = segment(message)
    if segmentation.encoding == "ucs2" and body["on_unicode"] == "reject":
        raise _unicode_rejected(message, recipients)
    limit = body.get("max_segments")
    if limit is not None and segmentation.count > limit:
        raise Problem(
            "too_many_segments",
            f"The message takes {segmentation.count} segments; `max_segments` is {limit}.",
            segments=segmentation.count,
            max_segments=limit,
        )
    return message, segmentation


def _unicode_rejected(message: str, recipients: int) -> Problem:
    """The 422 for a message that needs UCS-2, with the same `encoding` as in a 200."""
    encoding = report(message, message, recipients)
    assert encoding is not None
    first, other_count = encoding["cause"][0], encoding["cause_count"] - 1
    others = f", and {other_count:,} more" if other_count else ""
    detail = f"Character {first['index'] + 1:,} of the message ({first['codepoint']}) is not in GSM-7{others}."
    return Problem("unicode_rejected", detail, encoding=encoding)


def _message_and_recipients(services: Services, caller: Caller, kind: str, body: dict[str, Any]) -> dict[str, Any]:
    """The draft's message and recipients. Placeholders are resolved here if every recipient gets the same text."""
    common = common_text(kind, body)
    if common is not None:
        recipients = _recipients(services, caller, kind, body)
        message, segmentation = fit_text(common, body, len(recipients.get("phones", ())) or recipients["submitted"])
        return {"message": message, "segmentation": segmentation, **recipients}
    template = template_of(body["message"])
    assert template is not None
    content = {"message": body["message"], "on_unicode": body["on_unicode"]}
    if kind == "bulk":
        return {**content, **_several_phones(services, caller, body, template)}
    return {**content, **_group(services, caller, body, template)}


def _recipients(services: Services, caller: Caller, kind: str, body: dict[str, Any]) -> dict[str, Any]:
    if kind == "single":
        return {"phones": [_one_phone(services, caller, body)]}
    if kind == "bulk":
        return _several_phones(services, caller, body)
    return _group(services, caller, body)


def _group(
    services: Services, caller: Caller, body: dict[str, Any], template: Template | None = None
) -> dict[str, Any]:
    with reading(services.engine) as connection:
        group = connection.execute(GROUP, {"group": body["group_id"], "account": caller.account_id}).one_or_none()
    if group is None:
        raise Problem("group_not_found", f"Your account has no group {body['group_id']}.")
    if not group.contact_count:
        raise Problem("group_empty", "The group has no contacts.")
    recipients = {"group_id": body["group_id"], "group_bound": group.last_position, "submitted": group.contact_count}
    if template is None:
        return recipients
    add_recipients(group.contact_count)
    with services.large_groups.reading(caller.account_id, group.contact_count):
        return recipients | price_group(services, body, group.last_position, template)


def _one_phone(services: Services, caller: Caller, body: dict[str, Any]) -> str:
    phone = str(body["phone"])
    check_destination(services.tokens.limits_of(caller.account_id), phone)
    if opted_out(services, caller, body, [phone]):
        raise Problem("recipient_suppressed", "The recipient has opted out of messages from your account.")
    return phone


def _several_phones(
    services: Services, caller: Caller, body: dict[str, Any], template: Template | None = None
) -> dict[str, Any]:
    phones = body["phones"]
    if len(phones) > MAX_PHONES:
        raise Problem(
            "too_many_recipients",
            f"{len(phones):,} recipients were given; one request takes at most {MAX_PHONES:,}.",
            max=MAX_PHONES,
            submitted=len(phones),
        )
    screened, variables = _screen(phones, body["allow_duplicates"], template)
    screened = drop_excluded(services, caller, body, screened)
    personal: dict[str, Any] = {}
    if template is not None:
        add_recipients(len(phones))
        screened, personal = chunks_of_list(template, screened, variables, body, BATCH_SIZE)
    rejected = screened.rejected
    if rejected and body["strict"]:
        raise invalid(
            [
                {
                    "pointer": f"/phones/{entry['index']}",
                    "code": str(entry["code"]),
                    "detail": str(entry.get("detail") or f"The same phone as /phones/{entry.get('duplicate_of')}."),
                }
                for entry in rejected
            ]
        )
    if not screened.accepted:
        raise Problem("no_valid_recipients", "No recipient can be sent to.", rejected=rejected[:100])
    return {"phones": screened.accepted, "submitted": len(phones), "rejected": rejected, **personal}


def _screen(
    entries: list[object], allow_duplicates: bool, template: Template | None
) -> tuple[Screened, dict[int, Variables]]:
    """Validate the entries' phones, and collect their placeholder values by index."""
    if template is None:
        screened = screen(entries, allow_duplicates)
        if not screened.rejected or not any(isinstance(entry, dict) for entry in entries):
            return screened, {}
    recipients = unpack(entries)
    return without(screen(recipients.phones, allow_duplicates), recipients.problems), recipients.variables
