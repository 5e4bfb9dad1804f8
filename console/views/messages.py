"""Messages: search, and what became of one."""

from collections.abc import Iterable
from typing import Any

from flask import Blueprint, render_template, request
from flask_babel import gettext

from console.message.recipients import plain_phone
from console.pages.formats import utc_from_local
from console.pages.forms import Form
from console.pages.paging import paging
from console.session.current import account, country
from shared.lifecycle import MessageStatus

pages = Blueprint("messages", __name__, url_prefix="/messages")

FILTERS = ("phone", "reference", "status", "since", "until")


@pages.get("/")
def index() -> Any:
    """Search by phone, reference, status and time."""
    form = Form({name: request.args.get(name, "") for name in FILTERS})
    query = search_of(form, FILTERS)
    page = form.page(lambda: account().messages.page(**query, **paging()))
    shown = render_template("messages/index.html", page=page, form=form, outcomes=MessageStatus)
    return shown, 400 if form.wrong else 200


@pages.get("/<uuid:message_id>")
def show(message_id: Any) -> Any:
    """One message with its timeline."""
    message = account().messages.one(str(message_id))
    return render_template("messages/show.html", message=message)


def search_of(form: Form, filters: Iterable[str]) -> dict[str, Any]:
    """The query by filter, from the form. An invalid time is reported in the form."""
    query: dict[str, Any] = {name: form.text(name) for name in filters}
    if query["phone"]:
        query["phone"] = plain_phone(query["phone"], country())
    for name in ("since", "until"):
        typed = query[name]
        if typed:
            try:
                query[name] = utc_from_local(typed)
            except ValueError:
                form.errors[name] = gettext("Enter a date and a time.")
    return query
