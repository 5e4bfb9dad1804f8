"""Conversations: what phones have sent, and what was sent to each."""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Any
from uuid import UUID

from bulksms_client.errors import ApiError
from flask import Blueprint, flash, redirect, render_template, request, url_for
from flask_babel import gettext

from console.message.choices import SHOWN, senders
from console.message.recipients import plain_phone
from console.pages.forms import Form
from console.pages.paging import paging
from console.session.current import account

pages = Blueprint("conversations", __name__, url_prefix="/conversations")

MILLISECONDS = re.compile(r"20\d\d-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d:[0-5]\d\.\d{3}Z", re.ASCII)
TURNS = 30
"""Messages that a page of a conversation shows."""
SEARCHES = 5
"""Pages that are read of a search which has to examine many sends."""


@pages.get("/")
def index() -> Any:
    """The last message from each phone number, newest first."""
    return render_template("conversations/index.html", page=account().inbound.page(latest="true", **paging()))


@pages.get("/open")
def open_phone() -> Any:
    """The conversation with a phone that was typed."""
    phone = plain_phone(request.args.get("phone", ""))
    return redirect(url_for("conversations.show", phone=phone) if phone else url_for("conversations.index"))


@pages.get("/<phone>")
def show(phone: str) -> Any:
    """Both sides of one phone's conversation."""
    return _page(phone, Form({"sender_id": request.args.get("sender_id", ""), "message": ""}))


@pages.post("/<phone>")
def reply(phone: str) -> Any:
    """Answer."""
    form = Form.posted({"phone": "message"})
    if form["check"]:
        return _page(phone, form)
    body = {"phone": phone, "sender_id": form["sender_id"], "message": form["message"].replace("\r\n", "\n")}
    try:
        account().sends.create(body, form.key)
    except ApiError as error:
        return _page(phone, form.refuse(error)), 400
    flash(gettext("The reply is on its way."), "good")
    return redirect(url_for("conversations.show", phone=phone))


def _page(phone: str, form: Form) -> Any:
    received, sent, older = _both_sides(phone, _time_of(request.args.get("until", "")))
    turns = [_received(each) for each in received] + [_sent(each) for each in sent]
    turns.sort(key=lambda turn: UUID(turn["id"]))
    if not form["sender_id"] and received and _is_approved(received[0]["sender_id"]):
        form.values["sender_id"] = received[0]["sender_id"]
    shown = {"phone": phone, "turns": turns, "older": older, "form": form, "senders": senders(form)}
    return render_template("conversations/show.html", **shown)


def _both_sides(phone: str, until: str | None) -> tuple[list[Any], list[Any], str | None]:
    """The newest messages from and to a phone before a time, TURNS together, and the time at which older ones end.

    The API pages by the times in ids, which are those of these messages.
    """
    received = _newest(account().inbound.page, phone, until)
    sent = _newest(partial(account().messages.page, texts="true"), phone, until)
    times = sorted([_id_time(each["inbound_id"]) for each in received] + [_id_time(each["send_id"]) for each in sent])
    if len(times) < TURNS:
        return received, sent, None
    first = times[-TURNS]
    return (
        [each for each in received if _id_time(each["inbound_id"]) >= first],
        [each for each in sent if _id_time(each["send_id"]) >= first],
        datetime.fromtimestamp(first / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
    )


def _newest(ask: Callable[..., Any], phone: str, until: str | None) -> list[Any]:
    found: list[Any] = []
    cursor = None
    for _ in range(SEARCHES):
        page = ask(limit=TURNS, phone=phone, until=until, cursor=cursor)
        found, cursor = found + page["data"], page["next_cursor"]
        if cursor is None or len(found) >= TURNS:
            break
    return found


def _id_time(id: str) -> int:
    """The milliseconds since 1970 in a UUID of version 7 (RFC 9562 §5.7)."""
    return UUID(id).int >> 80


def _time_of(text: str) -> str | None:
    """A time of a link to older messages; None for anything else."""
    return text if MILLISECONDS.fullmatch(text) else None


def _is_approved(number: str) -> bool:
    found = account().sender_ids.page(limit=SHOWN, status="approved", search=number)["data"]
    return any(each["sender_id"] == number for each in found)


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
