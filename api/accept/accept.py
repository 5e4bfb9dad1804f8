"""Accept a send, step by step:

sender       is it the account's, and approved
text         does it fit, and into how many segments
recipients   valid, not twice, not opted out
price        segments times recipients
commit       send, batches, reserve and idempotency key, durably
ring         wake the workers, best effort
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
    group_of,
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
from api.commit.idempotency import Answered, answered_before, key_of_request
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
    """Accept a send. It is stored and reserved before the response. Raises Problem if it had no effect."""
    key = key_of_request(caller, body)
    try:
        draft = make_draft(services, caller, kind, body)
        check_pumping(services, draft)
        if "quote_id" in body:
            enforce_quote(services, draft, body, body["quote_id"])
        count_recipients(services, draft)
    except Problem:
        with reading(services.engine) as connection:
            before = answered_before(connection, key)
        if before is None:
            raise
        return with_encoding(before, kind, body).response()
    draft.key = key
    if draft.callback_url is not None:
        expect_callbacks(services, caller.account_id)
    finish = partial(_accepted, services, draft, body)
    if draft.kind == "single" and is_on_event_loop():
        return services.commits.later(draft, finish)
    try:
        answered = services.commits.together(draft) if draft.kind == "single" else services.commits.alone(draft)
    except Exception:
        uncount_recipients(services, draft)
        raise
    if not answered.replayed:
        current_request().recipients_priced = 0  # they are paid for
    return finish(answered)


def _accepted(services: Services, draft: Draft, body: dict[str, Any], answered: Answered) -> JsonResponse:
    """After the commit."""
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


def make_draft(services: Services, caller: Caller, kind: str, body: dict[str, Any]) -> Draft:
    """Validate and price a send. Raises Problem if it cannot be accepted for any reason but the balance."""
    check_sender(services, caller, body["sender_id"], body["category"])
    now = datetime.now(UTC)
    send_at = due_time(body.get("send_at"), now)
    expires_at = expiry_time(body.get("expires_at"), send_at or now, now)
    callback_url = body.get("callback_url")
    if callback_url is not None:
        check_callback(services, callback_url)
    content = _content(services, caller, kind, body)
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
    add_rules(draft, body, services.remembered.rules(caller.account_id))
    return draft


def check_sender(services: Services, caller: Caller, sender: str, category: Category) -> None:
    """Raises Problem unless the sender ID is the account's and approved, and may be used for the category."""
    known = services.remembered.sender_state(caller.account_id, sender)
    if known is None:
        raise _sender_not_registered(services, caller, sender)
    state, reason, authentication = known
    if state != "approved":
        because = f": {reason}" if reason else "."
        raise Problem("sender_not_approved", f"The sender ID {sender!r} is {state}{because}", sender_status=state)
    if category == Category.AUTHENTICATION and not authentication:
        raise Problem(
            "category_not_allowed",
            f"Neither your account nor {sender!r} may send the category `authentication`.",
        )


def _sender_not_registered(services: Services, caller: Caller, sender: str) -> Problem:
    """The 403 for an unknown sender ID, with a hint if the account has it in other letter case."""
    with reading(services.engine) as connection:
        alike = connection.execute(SENDER_IN_OTHER_CASE, {"account": caller.account_id, "sender": sender}).scalar()
    hint = f" It has {alike!r}: sender IDs are case-sensitive." if alike else ""
    return Problem("sender_not_registered", f"Your account has no sender ID {sender!r}.{hint}")


def fit_text(message: str, body: Mapping[str, Any], recipients: int) -> tuple[str, Segmentation]:
    """The message as it is sent and its segments, as `on_unicode` and `max_segments` ask. Raises Problem."""
    if body["on_unicode"] == "transliterate":
        message = transliterate(message)
    segmentation = segment(message)
    if segmentation.encoding == "ucs2" and body["on_unicode"] == "reject":
        raise _unicode_rejected(message, recipients)
    most = body.get("max_segments")
    if most is not None and segmentation.count > most:
        raise Problem(
            "too_many_segments",
            f"The message takes {segmentation.count} segments; `max_segments` is {most}.",
            segments=segmentation.count,
            max_segments=most,
        )
    return message, segmentation


def _unicode_rejected(message: str, recipients: int) -> Problem:
    """A 422, with what a 200 would say of the encoding."""
    found = report(message, message, recipients)
    assert found is not None
    first, more = found["cause"][0], found["cause_count"] - 1
    others = f", and {more:,} more" if more else ""
    detail = f"Character {first['index'] + 1:,} of the message ({first['codepoint']}) is not in GSM-7{others}."
    return Problem("unicode_rejected", detail, encoding=found)


def _content(services: Services, caller: Caller, kind: str, body: dict[str, Any]) -> dict[str, Any]:
    """The draft's message and recipients. Placeholders are resolved here if every recipient gets the same text."""
    common = common_text(kind, body)
    if common is not None:
        recipients = _recipients(services, caller, kind, body)
        message, segmentation = fit_text(common, body, len(recipients.get("phones", ())) or recipients["submitted"])
        return {"message": message, "segmentation": segmentation, **recipients}
    template = template_of(body["message"])
    assert template is not None
    made = {"message": body["message"], "on_unicode": body["on_unicode"]}
    if kind == "bulk":
        return {**made, **_several_phones(services, caller, body, template)}
    return {**made, **_group(services, caller, body, template)}


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
    made = {"group_id": body["group_id"], "group_bound": group.last_position, "submitted": group.contact_count}
    if template is None:
        return made
    add_recipients(group.contact_count)
    with services.large_groups.reading(caller.account_id, group.contact_count):
        return made | group_of(services, body, group.last_position, template)


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
    """Validate the phones of the entries, and collect their placeholder values."""
    if template is None:
        screened = screen(entries, allow_duplicates)
        if not screened.rejected or not any(isinstance(entry, dict) for entry in entries):
            return screened, {}
    given = unpack(entries)
    return without(screen(given.phones, allow_duplicates), given.problems), given.variables
