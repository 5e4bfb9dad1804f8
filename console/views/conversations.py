"""Conversations: what phones have sent, and what was sent to each."""

from collections.abc import Mapping
from typing import Any

from bulksms_client.errors import ApiError
from flask import Blueprint, flash, redirect, render_template, request, url_for
from flask_babel import gettext

from console.current import account
from console.forms import Form
from console.paging import paging
from console.recipients import plain_phone

pages = Blueprint("conversations", __name__, url_prefix="/conversations")

TURNS = 15
"""Messages of each side that a conversation shows."""


@pages.get("/")
def index() -> Any:
    """Messages from phones, newest first."""
    return render_template("conversations/index.html", page=account().inbound.page(**paging()))


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
    body = {"phone": phone, "sender_id": form["sender_id"], "message": form["message"].replace("\r\n", "\n")}
    try:
        account().sends.create(body, form.key)
    except ApiError as error:
        return _page(phone, form.refuse(error)), 400
    flash(gettext("The reply is on its way."), "good")
    return redirect(url_for("conversations.show", phone=phone))


def _page(phone: str, form: Form) -> Any:
    received = account().inbound.page(limit=TURNS, phone=phone)["data"]
    sent = account().messages.page(limit=TURNS, phone=phone, texts="true")["data"]
    turns = [_received(each) for each in received] + [_sent(each) for each in sent]
    turns.sort(key=lambda turn: str(turn["at"]))
    senders = [each["sender_id"] for each in account().sender_ids.page(limit=200, status="approved")["data"]]
    if not form["sender_id"] and received and received[0]["sender_id"] in senders:
        form.values["sender_id"] = received[0]["sender_id"]
    return render_template("conversations/show.html", phone=phone, turns=turns, form=form, senders=senders)


def _received(message: Mapping[str, Any]) -> dict[str, Any]:
    return {"out": False, "at": message["received_at"], "text": message["message"], "keyword": message["keyword"]}


def _sent(message: Mapping[str, Any]) -> dict[str, Any]:
    return {"out": True, "at": message["created_at"], "text": message["text"], "message": message}
