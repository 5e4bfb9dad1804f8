"""Determine the recipients of a send, and drop those that it excludes.

A list's recipients are dropped if they are invalid, repeated, opted out, in a destination not allowed, or over their
hourly limit. Those of a group are checked when the group is expanded. Suspected SMS pumping is recorded, and refused if
the operator has configured it.
"""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import bindparam, func, insert, select

from api.accept.placeholders import (
    UnpackedRecipients,
    chunks_of_list,
    price_group,
    refuse_unpriced,
    reject_problems,
    unpack,
)
from api.accept.prices import NO_PRICE, SegmentPrices, SendPrices
from api.accept.schemas import MAX_PHONES
from api.auth.tokens import Caller
from api.commit.draft import Draft
from api.event_loop import require_thread
from api.limits.pumping_guard import APPROVAL_WINDOW, WINDOW, PumpingFinding
from api.problems import MAX_ERRORS, Problem, invalid
from api.services import Services
from shared.accounts.limits import RECIPIENTS, Limits
from shared.contacts.suppressions import listed
from shared.db.connection import reading
from shared.db.tables.contacts import contact_group
from shared.db.tables.prices import contact_group_prefix
from shared.db.tables.rules import pumping_finding
from shared.lifecycle import LANES, Category
from shared.sends.templates import Template
from shared.sms.phones import ScreenedPhones, screen

BY_PREFIX = select(func.json_object_agg(contact_group_prefix.c.prefix, contact_group_prefix.c.contacts)).where(
    contact_group_prefix.c.group_id == contact_group.c.id, contact_group_prefix.c.contacts > 0
)
GROUP = select(*contact_group.c["contact_count", "last_position"], BY_PREFIX.label("by_prefix")).where(
    contact_group.c.id == bindparam("group"),
    contact_group.c.account_id == bindparam("account"),
    contact_group.c.deleted_at.is_(None),
)
"""One statement, as contacts may be added meanwhile."""
OPTED_OUT_ENTRY = {"code": "suppressed", "detail": "The recipient has opted out."}
BARRED_ENTRY = {"code": "destination_not_allowed", "detail": "Your account may not send to this destination."}

NO_PRICE_ENTRY = {"code": "no_price", "detail": NO_PRICE}
OVER_LIMIT_ENTRY = {
    "code": "recipient_limit",
    "detail": "The phone number has reached its hourly limit for this category.",
}

INSERT_FINDING = insert(pumping_finding)
PUMPING_DETAILS = {
    "block": "{phones} phone numbers that begin with {prefix} got one-time passwords in ten minutes; {limit} are"
    " usual.",
    "burst": "{phones} phone numbers that begin with {prefix} got one-time passwords in ten minutes; {limit} are"
    " usual, judging by the hour before.",
    "unused": "{phones} verifications of phone numbers that begin with {prefix} had no code entered in the last hour;"
    " {limit} are usual.",
}


def recipients_of(
    services: Services, caller: Caller, limits: Limits, kind: str, body: dict[str, Any], prices: SendPrices
) -> tuple[dict[str, Any], SegmentPrices]:
    """The draft's recipients, and what a segment to them costs. Raises Problem if the send has none."""
    if kind == "single":
        phone = _one_phone(services, caller, limits, body)
        return {"phones": [phone]}, prices.of_one(phone)
    if kind == "bulk":
        recipients = _phones_of_list(services, caller, limits, body, prices, None)
        return recipients, prices.of_list(recipients["phones"])
    recipients, by_prefix = _contacts_of_group(services, caller, body)
    if prices.version_id is None:
        return recipients, SegmentPrices(1, recipients["submitted"])
    costs = prices.of_group(by_prefix, by_prefix)
    refuse_unpriced(body, costs.unpriced)
    return {**recipients, "incomplete": costs.unpriced}, costs


def personal_recipients_of(
    services: Services,
    caller: Caller,
    limits: Limits,
    kind: str,
    body: dict[str, Any],
    prices: SendPrices,
    template: Template,
) -> dict[str, Any]:
    """The draft's recipients, each of which gets a text of its own and is priced for it."""
    if kind == "bulk":
        return _phones_of_list(services, caller, limits, body, prices, template)
    recipients, _ = _contacts_of_group(services, caller, body)
    return recipients | price_group(services, body, recipients["group_bound"], prices, template)


def _contacts_of_group(
    services: Services, caller: Caller, body: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, int]]:
    """The draft's recipients, and how many they are by the first digits of their phones."""
    with reading(services.engine) as connection:
        group = connection.execute(GROUP, {"group": body["group_id"], "account": caller.account_id}).one_or_none()
    if group is None:
        raise Problem("group_not_found", f"Your account has no group {body['group_id']}.")
    if not group.contact_count:
        raise Problem("group_empty", "The group has no contacts.")
    recipients = {"group_id": body["group_id"], "group_bound": group.last_position, "submitted": group.contact_count}
    return recipients, group.by_prefix


def _one_phone(services: Services, caller: Caller, limits: Limits, body: dict[str, Any]) -> str:
    phone = str(body["phone"])
    if not _may_send_to(phone, limits):
        raise Problem("destination_not_allowed", "Your account may not send to this destination.")
    if opted_out(services, caller, body, [phone]):
        raise Problem("recipient_suppressed", "The recipient has opted out of messages from your account.")
    return phone


def _phones_of_list(
    services: Services,
    caller: Caller,
    limits: Limits,
    body: dict[str, Any],
    prices: SendPrices,
    template: Template | None,
) -> dict[str, Any]:
    phones = body["phones"]
    if len(phones) > MAX_PHONES:
        raise Problem(
            "too_many_recipients",
            f"{len(phones):,} recipients were given; one request takes at most {MAX_PHONES:,}.",
            max=MAX_PHONES,
            submitted=len(phones),
        )
    screened, given = _screen(phones, body["allow_duplicates"], template)
    screened = drop_excluded(services, caller, limits, body, prices, screened)
    personal: dict[str, Any] = {}
    if template is not None:
        screened, personal = chunks_of_list(template, screened, given.variables, body, prices)
    rejected = screened.rejected
    if rejected and body["strict"]:
        raise invalid(
            [
                {
                    "pointer": f"/phones/{entry['index']}",
                    "code": str(entry["code"]),
                    "detail": str(entry.get("detail") or f"The same as /phones/{entry.get('duplicate_of')}."),
                }
                for entry in rejected
            ]
        )
    if not screened.accepted:
        raise Problem("no_valid_recipients", "None of the recipients can be sent to.", rejected=rejected[:MAX_ERRORS])
    if given.references:
        personal["references"] = [given.references.get(index) for index in screened.indexes]
    return {"phones": screened.accepted, "submitted": len(phones), "rejected": rejected, **personal}


def _screen(
    entries: list[object], allow_duplicates: bool, template: Template | None
) -> tuple[ScreenedPhones, UnpackedRecipients]:
    """Validate the entries' phones, and collect what else they give by index."""
    if template is None:
        screened = screen(entries, allow_duplicates)
        if not screened.rejected or not any(isinstance(entry, dict) for entry in entries):
            return screened, UnpackedRecipients()
    recipients = unpack(entries)
    return reject_problems(screen(recipients.phones, allow_duplicates), recipients.problems), recipients


def drop_excluded(
    services: Services,
    caller: Caller,
    limits: Limits,
    body: dict[str, Any],
    prices: SendPrices,
    screened: ScreenedPhones,
) -> ScreenedPhones:
    """Move the excluded recipients of a list to the rejected ones, each with its reason."""
    excluded = dict.fromkeys(opted_out(services, caller, body, screened.accepted), OPTED_OUT_ENTRY)
    barred = (phone for phone in screened.accepted if not _may_send_to(phone, limits))
    excluded |= dict.fromkeys(() if limits.destinations is None else barred, BARRED_ENTRY)
    excluded |= dict.fromkeys(prices.of_each(screened.accepted).unpriced(screened.accepted), NO_PRICE_ENTRY)
    over_limit = recipients_over_limit(services, caller, limits, body, screened.accepted)
    if not excluded and not over_limit:
        return screened
    reasons = {
        index: excluded.get(phone, OVER_LIMIT_ENTRY)
        for position, (index, phone) in enumerate(zip(screened.indexes, screened.accepted, strict=True))
        if phone in excluded or position in over_limit
    }
    return screened.reject(reasons)


def opted_out(services: Services, caller: Caller, body: dict[str, Any], phones: list[str]) -> set[str]:
    """The phones that have opted out of messages of this category and sender ID."""
    if not phones or not services.account_cache.has_suppressions(caller.account_id):
        return set()
    numbers = [int(phone) for phone in phones]
    with reading(services.engine) as connection:
        suppressed = listed(connection, caller.account_id, numbers, body["category"], body["sender_id"])
    return {str(phone) for phone in suppressed}


def _may_send_to(phone: str, limits: Limits) -> bool:
    """Whether the account may send to the phone's destination."""
    return limits.destinations is None or phone.startswith(limits.destinations)


def hourly_limit(limits: Limits, lane: int, defaults: Sequence[int]) -> int:
    """Messages of a lane to one phone per hour; 0: unlimited. `defaults` are the installation's limits by lane."""
    own: int | None = getattr(limits, RECIPIENTS[lane])
    return defaults[lane] if own is None else own


def recipients_over_limit(
    services: Services, caller: Caller, limits: Limits, body: dict[str, Any], phones: list[str]
) -> set[int]:
    """The indexes of phones that have reached their hourly limit."""
    lane = LANES.index(body["category"])
    limit = hourly_limit(limits, lane, services.settings.recipient_limits)
    if not limit:
        return set()
    return services.recipients.over(caller.account_id, lane, phones, limit, unique=not body["allow_duplicates"])


def count_recipients(services: Services, limits: Limits, draft: Draft) -> None:
    """Count the messages of a send that is about to be committed. Raises Problem recipient_limit for a single one."""
    limit = hourly_limit(limits, draft.lane, services.settings.recipient_limits)
    if not limit:
        return
    if draft.kind != "single":
        services.recipients.add(draft.account_id, draft.lane, draft.phones, limit)
        return
    wait = services.recipients.take(draft.account_id, draft.lane, draft.phones[0], limit, draft.long_message)
    if wait:
        raise Problem(
            "recipient_limit",
            f"The phone number has reached its limit of {limit:,} `{draft.category}` messages per hour.",
            headers={"Retry-After": str(wait)},
        )


def uncount_recipients(services: Services, draft: Draft) -> None:
    """Undo `count_recipients` for a send that was not accepted, or was a replay."""
    services.recipients.give_back(draft.account_id, draft.lane, draft.phones, draft.long_message)


def check_pumping(services: Services, limits: Limits, draft: Draft) -> None:
    """Record suspected SMS pumping. Raises Problem traffic_refused if the account's guard blocks it."""
    if limits.pumping == "off" or draft.category != Category.AUTHENTICATION:
        return
    require_thread()  # a retry in a thread would count the phone twice, and a new finding is written to the database
    for phone in draft.phones:
        finding = services.pumping.record(draft.account_id, phone)
        if finding is None:
            continue
        refused = limits.pumping == "block"
        if finding.first:
            _record_finding(services, draft.account_id, finding, refused)
        if refused:
            raise Problem(
                "traffic_refused",
                PUMPING_DETAILS[finding.rule].format(**finding._asdict()),
                rule=finding.rule,
                prefix=finding.prefix,
                phones=finding.phones,
                most=finding.limit,
                window_seconds=int(APPROVAL_WINDOW.total_seconds() if finding.rule == "unused" else WINDOW),
            )


def _record_finding(services: Services, account_id: int, finding: PumpingFinding, refused: bool) -> None:
    values = {
        "account_id": account_id,
        "rule": finding.rule,
        "prefix": finding.prefix,
        "phones": finding.phones,
        "most": finding.limit,
        "refused": refused,
    }
    with services.engine.begin() as connection:
        connection.execute(INSERT_FINDING, values)
