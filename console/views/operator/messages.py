"""Messages of all accounts: search, and what became of one."""

from typing import Any
from uuid import UUID

from bulksms_client.errors import ApiError
from flask import Blueprint, redirect, render_template, request, url_for
from flask_babel import gettext

from console.pages.forms import Form
from console.pages.paging import paging
from console.session.operator import operator
from console.views.messages import search_of
from shared.lifecycle import MessageStatus

pages = Blueprint("messages", __name__, url_prefix="/messages")

FILTERS = ("account_id", "phone", "reference", "id", "status", "since", "until")


@pages.get("/")
def index() -> Any:
    """Search by account, phone, reference, status and time. A message's id leads to it; a send's id is a filter."""
    form = Form({name: request.args.get(name, "") for name in FILTERS})
    query = search_of(form, FILTERS)
    id = query.pop("id")
    if id and not _is_id(id):
        form.errors["id"] = gettext("Enter the ID of a message or a send.")
    if id and not form.errors and _exists(id):
        return redirect(url_for("operator.messages.show", message_id=id))
    page = form.page(lambda: operator().messages.page(**query, send_id=id, **paging()))
    shown = render_template("operator/messages/index.html", page=page, form=form, outcomes=MessageStatus)
    return shown, 400 if form.wrong else 200


@pages.get("/<uuid:message_id>")
def show(message_id: UUID) -> Any:
    """One message with its timeline."""
    return render_template("operator/messages/show.html", message=operator().messages.one(str(message_id)))


def _is_id(text: str) -> bool:
    try:
        return str(UUID(text)) == text.lower()
    except ValueError:
        return False


def _exists(message_id: str) -> bool:
    """Whether there is a message with this id."""
    try:
        operator().messages.one(message_id)
    except ApiError as error:
        if error.status != 404:
            raise
        return False
    return True
