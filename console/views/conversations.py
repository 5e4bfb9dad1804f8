"""Conversations: what phones have sent, and what was sent to each."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple
from uuid import UUID

from bulksms_client.errors import ApiError
from flask import Blueprint, flash, redirect, render_template, request, url_for
from flask_babel import gettext

from console.message.choices import senders
from console.message.drafts import FIELDS, Draft
from console.message.quotes import preview
from console.message.recipients import plain_phone, with_plus
from console.pages.forms import Form
from console.pages.paging import paging
from console.session.current import account, country, may

pages = Blueprint("conversations", __name__, url_prefix="/conversations")

MILLISECONDS = re.compile(r"20\d\d-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d:[0-5]\d\.\d{3}Z", re.ASCII)
TURNS = 30
"""Messages of each side that a page of a conversation requests."""
SEARCHES = 5
"""The most pages read of a search that has to examine many sends."""


class Found(NamedTuple):
    """Messages found of one side, newest first; whether older ones may follow; and the cursor at which a search of
    sends stopped before it had found enough."""

    messages: list[Any]
    has_older: bool
    stopped_at: str | None = None


class BothSides(NamedTuple):
    """Both sides of a conversation, and the query of the link to older messages; None if there is none."""

    received: list[Any]
    sent: list[Any]
    older: dict[str, str | None] | None


@pages.get("/")
def index() -> Any:
    """The last message from each phone number, newest first."""
    return _index(Form({"phone": ""}))


@pages.get("/open")
def open_phone() -> Any:
    """Redirect to the conversation with the phone number that was typed."""
    form = Form({"phone": request.args.get("phone", "")})
    phone = plain_phone(form["phone"], country())
    if not phone:
        return redirect(url_for("conversations.index"))
    try:
        account().inbound.page(limit=1, phone=phone)
    except ApiError as error:
        return _index(form.refuse(error)), 400
    return redirect(url_for("conversations.show", phone=phone))


@pages.get("/<phone>")
def show(phone: str) -> Any:
    """Both sides of one phone's conversation."""
    sender = request.args.get("sender_id", "")
    try:
        return _page(phone, Form({"kind": "one", "phone": with_plus(phone), "sender_id": sender}))
    except ApiError as error:
        search = Form({"phone": phone}).refuse(error)
        if "phone" not in search.errors:
            raise
        return _index(search), 400


@pages.post("/<phone>")
def reply(phone: str) -> Any:
    """Send a reply. With `check`, only show it again with its segments and its price."""
    form = Form.posted({**FIELDS, "phone": "message"})
    form.values["kind"], form.values["phone"] = "one", with_plus(phone)
    if form["replace"]:
        form.values["message"] = form["plain_text"]
    if form["check"] or form["replace"]:
        return _page(phone, form)
    try:
        body = Draft(form).body()
        if not form.errors:
            account().sends.create(body, form.key)
    except ApiError as error:
        form.refuse(error)
    if form.wrong:
        return _page(phone, form), 400
    flash(gettext("The reply is on its way."), "good")
    return redirect(url_for("conversations.show", phone=phone))


def _index(form: Form) -> str:
    page = account().inbound.page(latest="true", **paging())
    return render_template("conversations/index.html", page=page, form=form)


def _page(phone: str, form: Form) -> Any:
    both = _both_sides(phone, _time_of(request.args.get("until", "")), request.args.get("cursor"))
    turns = [_received(each) for each in both.received] + [_sent(each) for each in both.sent]
    turns.sort(key=lambda turn: UUID(turn["id"]))
    answered = both.received[0]["sender_id"] if both.received else None
    shown = {"phone": phone, "turns": turns, "older": both.older, "form": form, "senders": senders(form, answered)}
    draft = Draft(form)
    quoted = preview(draft) if may("sms:send") and not form.wrong else None
    return render_template("conversations/show.html", draft=draft, preview=quoted, **shown)


def _both_sides(phone: str, until: str | None, cursor: str | None) -> BothSides:
    """Both sides before a time, back to the time from which both are complete.

    The API pages by the times in ids, which are those of these messages. If the search for sent ones stopped before it
    found any, the page of older messages has what was received once more, and `cursor`, where that search goes on.
    """
    received, sent = _received_by_us(phone, until), _sent_to(phone, until, cursor)
    if sent.stopped_at is not None and not sent.messages:
        return BothSides(received.messages, [], {"until": until, "cursor": sent.stopped_at})
    times_received = [_id_time(each["inbound_id"]) for each in received.messages]
    times_sent = [_id_time(each["send_id"]) for each in sent.messages]
    ends = [_end(times) for times, side in ((times_received, received), (times_sent, sent)) if side.has_older]
    if not ends:
        return BothSides(received.messages, sent.messages, None)
    end = max(ends)
    return BothSides(
        [each for each, time in zip(received.messages, times_received, strict=True) if time >= end],
        [each for each, time in zip(sent.messages, times_sent, strict=True) if time >= end],
        {"until": datetime.fromtimestamp(end / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")},
    )


def _received_by_us(phone: str, until: str | None) -> Found:
    page = account().inbound.page(limit=TURNS, phone=phone, until=until)
    return Found(page["data"], page["next_cursor"] is not None)


def _sent_to(phone: str, until: str | None, cursor: str | None) -> Found:
    found: list[Any] = []
    for _ in range(SEARCHES):
        page = account().messages.page(limit=TURNS, phone=phone, until=until, cursor=cursor, texts="true")
        found, cursor = found + page["data"], page["next_cursor"]
        if cursor is None or len(found) >= TURNS:
            return Found(found, cursor is not None)
    return Found(found, True, cursor)


def _end(times: list[int]) -> int:
    """The time from which a truncated side is complete: messages of the same millisecond as its last may be missing."""
    return times[-1] + 1 if times[0] > times[-1] else times[-1]


def _id_time(id: str) -> int:
    """The milliseconds since 1970 in a UUID of version 7 (RFC 9562 §5.7)."""
    return UUID(id).int >> 80


def _time_of(text: str) -> str | None:
    """The time in a link to older messages; None for anything else."""
    return text if MILLISECONDS.fullmatch(text) else None


def _received(message: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "id": message["inbound_id"],
        "out": False,
        "at": message["received_at"],
        "text": message["message"],
        "keyword": message["keyword"],
    }


def _sent(message: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "id": message["send_id"],
        "out": True,
        "at": message["created_at"],
        "text": message["text"],
        "message": message,
    }
