"""Times, numbers and names as people read them."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

from flask import Flask
from flask_babel import (
    format_date,
    format_datetime,
    format_decimal,
    format_percent,
    lazy_gettext,
    ngettext,
)
from markupsafe import Markup

from console.pages.languages import zone
from console.pages.rejections import import_rejection, rejection_reason

_ = lazy_gettext

DATE = _("d MMM y")
"""A day in the form of CLDR's patterns: 24 Nov 2026."""
EARLIEST_YEAR, LATEST_YEAR = 1970, 9998
"""Years of times that may be entered."""
NOTHING = "\u2013"
"""Shown where there is no value: a dash."""

STATUSES: dict[str, Any] = {
    "scheduled": _("Scheduled"),
    "expanding": _("Preparing"),
    "queued": _("Queued"),
    "sending": _("Sending"),
    "paused": _("Paused"),
    "held": _("Held"),
    "completed": _("Completed"),
    "canceled": _("Canceled"),
    "sent": _("Sent"),
    "delivered": _("Delivered"),
    "undelivered": _("Not delivered"),
    "failed": _("Failed"),
    "rejected": _("Rejected"),
    "expired": _("Expired"),
    "in_doubt": _("In doubt"),
    "pending": _("Pending"),
    "approved": _("Approved"),
    "suspended": _("Suspended"),
    "active": _("Active"),
    "disabled": _("Disabled"),
    "running": _("Running"),
    "frozen": _("Frozen"),
    "closed": _("Closed"),
    "ready": _("Ready"),
    "down": _("Down"),
    "open": _("Breaker open"),
    "waiting": _("Waiting"),
    "draft": _("Draft"),
    "announced": _("Announced"),
    "valid": _("Valid"),
    "past": _("Past"),
    "withdrawn": _("Withdrawn"),
    "added": _("Added"),
    "raised": _("Raised"),
    "lowered": _("Lowered"),
    "removed": _("Removed"),
    "below_cost": _("Below cost"),
    "ok": _("OK"),
    "notice": _("Notice"),
    "wrong": _("Wrong"),
}
TONES = {
    "good": {"delivered", "completed", "approved", "active", "ready", "valid", "ok"},
    "busy": {"sending", "expanding", "running", "queued", "sent", "pending", "announced"},
    "warn": {"paused", "held", "scheduled", "in_doubt", "suspended", "waiting", "notice"},
    "bad": {"failed", "undelivered", "rejected", "expired", "disabled", "frozen", "down", "open", "wrong"},
}
CATEGORIES: dict[str, Any] = {
    "authentication": _("Authentication"),
    "transactional": _("Transactional"),
    "marketing": _("Marketing"),
}
CATEGORY_USES: dict[str, Any] = {
    "authentication": _("Authentication: codes to sign in or to confirm"),
    "transactional": _("Transactional: orders, appointments, replies"),
    "marketing": _("Marketing: campaigns, offers, news"),
}
ROLES: dict[str, Any] = {
    "owner": _("Owner"),
    "sender": _("Sender"),
    "viewer": _("Viewer"),
    "admin": _("Administrator"),
    "support": _("Support"),
}
LIMITED_BY: dict[str, Any] = {
    "send_at": _("scheduled for later"),
    "paused": _("is paused"),
    "held": _("is held"),
    "carrier_paused": _("the carrier is paused"),
    "carrier_down": _("the carrier does not answer"),
    "no_worker": _("no worker is running"),
    "send_rate": _("the rate of this send"),
    "sender_rate": _("the rate of the sender ID"),
    "prefix_rate": _("the rate limit of the number prefix"),
    "canary": _("waiting for the first messages"),
    "quiet_hours": _("quiet hours"),
    "retry": _("waiting to try again"),
    "throttled": _("the carrier asks for a slower pace"),
    "carrier_rate": _("the carrier's pace"),
    "queue_turn": _("waiting its turn"),
    "window": _("the carrier's answers"),
    "guard": _("the guard holds all sends"),
    "account_frozen": _("the account is frozen"),
    "due_later": _("not due yet"),
}
OUTCOMES: dict[str, Any] = {
    "delivered": _("Delivered: they are charged"),
    "sent": _("Sent: they are charged"),
    "not-sent": _("Not sent: their credits are released"),
}
"""What became of messages in doubt."""


EVENTS: dict[str, Any] = {
    **STATUSES,
    "accepted": _("Accepted"),
    "due": _("Due"),
    "retry": _("Will be tried again"),
    "submitted": _("Submitted to the carrier"),
    "resumed": _("Resumed"),
}
ANSWERS: dict[str, Any] = {
    "accepted": _("Accepted"),
    "rejected": _("Rejected"),
    "failed": _("Failed"),
    "in_doubt": _("No answer"),
}
LEDGER_ENTRIES: dict[str, Any] = {
    "topup": _("Top-up"),
    "reserve": _("Reserved"),
    "capture": _("Charged"),
    "release": _("Released"),
    "refund": _("Refund"),
    "reversal": _("Reversal"),
    "adjustment": _("Adjustment"),
}
LEDGER_ACCOUNTS: dict[str, Any] = {
    "funding": _("Funding"),
    "available": _("To spend"),
    "reserved": _("Reserved"),
    "revenue": _("Spent"),
}
SCOPES: dict[str, Any] = {
    "sms:send": _("Send messages"),
    "sms:read": _("See sends and messages"),
    "balance:read": _("See credits"),
    "groups:read": _("See groups and contacts"),
    "groups:write": _("Change groups and contacts"),
    "senders:read": _("See sender IDs"),
    "senders:write": _("Request sender IDs"),
    "suppressions:read": _("See opt-outs"),
    "suppressions:write": _("Change opt-outs"),
    "webhooks:read": _("See webhooks"),
    "webhooks:write": _("Change webhooks"),
    "keys:read": _("See API keys"),
    "keys:write": _("Change API keys"),
    "privacy:write": _("Erase a person's data"),
    "people:read": _("See people and changes"),
    "people:write": _("Change people"),
}


def label(names: Mapping[str, Any], name: str | None) -> str:
    """The word for a name of the API; the name itself if there is none."""
    return str(names.get(name or "", name or ""))


def status_label(status: str | None) -> str:
    """The word for a status."""
    return label(STATUSES, status)


def tone(status: str | None) -> str:
    """How a status looks: good, busy, warn, bad or plain."""
    return next((name for name, members in TONES.items() if status in members), "plain")


def parsed(text: str | None) -> datetime | None:
    """A time of the API."""
    return datetime.fromisoformat(text) if text else None


def moment(text: str | None, seconds: bool = False) -> Markup:
    """A time of the API in the reader's zone and form; a dash if there is none."""
    at = parsed(text)
    if at is None:
        return Markup(NOTHING)
    shown = format_datetime(at, f"{DATE}, HH:mm:ss" if seconds else f"{DATE}, HH:mm")
    return Markup('<time datetime="{}">{}</time>').format(text, shown)


def clock(text: str | None) -> Markup:
    """The same with the date left out if it is today."""
    at = parsed(text)
    if at is None:
        return Markup(NOTHING)
    if at.astimezone(zone()).date() == datetime.now(zone()).date():
        return Markup('<time datetime="{}">{}</time>').format(text, format_datetime(at, "HH:mm:ss"))
    return moment(text)


def day(text: str | None) -> str:
    """A day such as 2026-03-02."""
    return format_date(datetime.fromisoformat(text), str(DATE)) if text else NOTHING


def number(value: Any) -> str:
    """A whole number with the separators of the reader's language; a dash if there is none."""
    return NOTHING if value is None else format_decimal(value)


def counted(singular: str, plural: str, count: int, **values: str) -> str:
    """A text about a number, `%(count)s` in it, in the reader's language. `values` fill its other placeholders."""
    return str(ngettext(singular, plural, count, count=format_decimal(count), **values))


def rate(value: float | None) -> str:
    """A number per second, to one decimal place; a dash if there is none."""
    return NOTHING if value is None else format_decimal(value, "#,##0.#")


def percent(part: float, whole: float) -> str:
    """A share, to one decimal place."""
    return format_percent(part / whole, "#,##0.#%") if whole else NOTHING


def phone(text: str | None) -> str:
    """A phone as people write it: with its plus sign."""
    return f"+{text}" if text and text.isdecimal() else (text or NOTHING)


def total(values: Iterable[int | None]) -> int:
    """The sum of the values that are not None."""
    return sum(value or 0 for value in values)


def utc_from_local(text: str, of: ZoneInfo | None = None) -> str:
    """The API's form of a time that was typed in a zone, by default the reader's. Raises ValueError.

    The time is such as 2026-03-02T09:00.
    """
    local = datetime.fromisoformat(text)
    if not EARLIEST_YEAR <= local.year <= LATEST_YEAR:  # beyond these, a change of time zone may leave the calendar
        raise ValueError(text)
    at = local if local.tzinfo else local.replace(tzinfo=of or zone())
    return at.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def local_from_utc(text: str | None, of: ZoneInfo | None = None) -> str:
    """The value of a `datetime-local` field for a time of the API, in a zone, by default the reader's."""
    at = parsed(text)
    return at.astimezone(of or zone()).strftime("%Y-%m-%dT%H:%M") if at else ""


def add_formats(app: Flask) -> None:
    """Register these filters and functions for templates."""
    app.jinja_env.filters.update(
        moment=moment,
        clock=clock,
        day=day,
        number=number,
        rate=rate,
        phone=phone,
        rejection_reason=rejection_reason,
        import_rejection=import_rejection,
        event=lambda name: label(EVENTS, name),
        answer=lambda name: label(ANSWERS, name),
        ledger_entry=lambda name: label(LEDGER_ENTRIES, name),
        ledger_account=lambda name: label(LEDGER_ACCOUNTS, name),
        scope=lambda name: label(SCOPES, name),
        status_label=status_label,
        tone=tone,
        category=lambda name: label(CATEGORIES, name),
        role=lambda name: label(ROLES, name),
        limited_by=lambda name: label(LIMITED_BY, name),
    )
    app.jinja_env.globals.update(counted=counted, percent=percent, total=total)
    app.jinja_env.globals.update(categories=CATEGORIES, category_uses=CATEGORY_USES)
