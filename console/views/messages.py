"""Messages: search, and what became of one."""

from collections.abc import Iterable
from typing import Any

from flask import Blueprint, flash, redirect, render_template, request, url_for
from flask_babel import gettext

from console.message.choices import groups
from console.message.recipients import plain_phone
from console.pages.confirmations import change_at_once
from console.pages.csv_files import download
from console.pages.formats import utc_from_local
from console.pages.forms import Form
from console.pages.paging import paging
from console.session.current import account, country, is_part
from shared.carriers.error_catalogue import CATALOGUE
from shared.lifecycle import MessageStatus

pages = Blueprint("messages", __name__, url_prefix="/messages")

FILTERS = ("phone", "reference", "status", "error", "category", "group_id", "country", "carrier", "since", "until")


@pages.get("/")
def index() -> Any:
    """Search by phone, reference, status, time and more."""
    form = Form({name: request.args.get(name, "") for name in FILTERS})
    query = search_of(form, FILTERS)
    shown = {
        "page": form.page(lambda: account().messages.page(**query, **paging())),
        "asked": {name: form[name] for name in FILTERS},
        "outcomes": MessageStatus,
        "error_codes": CATALOGUE,
        "groups": groups(form).offered,
    }
    return render_template("messages/index.html", form=form, **shown), 400 if form.wrong else 200


@pages.get("/<uuid:message_id>")
def show(message_id: Any) -> Any:
    """One message with its timeline."""
    message = account().messages.one(str(message_id))
    return render_template("messages/show.html", message=message)


@pages.post("/<uuid:message_id>/cancel")
def cancel(message_id: Any) -> Any:
    """Cancel it."""
    canceled = gettext("Message canceled. Its credits have been released.")
    change_at_once(lambda: account().messages.cancel(str(message_id)), canceled)
    return redirect(url_for("messages.show", message_id=message_id))


@pages.post("/exports")
def export() -> Any:
    """Export what a search finds."""
    form = Form.posted()
    query = search_of(form, FILTERS)
    if not form.wrong:
        with form.asking():
            begun = account().exports.begin(form.key, **query)
            return redirect(url_for("messages.show_export", export_id=begun["export_id"]))
    flash(form.problem or next(iter(form.errors.values())), "warn")
    return redirect(url_for("messages.index"))


@pages.get("/exports/<uuid:export_id>")
def show_export(export_id: Any) -> Any:
    """How far an export has come; or only that, for the page that refreshes itself."""
    shown = account().exports.one(str(export_id))
    return render_template(f"messages/{'export_progress' if is_part() else 'export'}.html", shown=shown)


@pages.get("/exports/<uuid:export_id>/file")
def export_file(export_id: Any) -> Any:
    """Its file."""
    return download(account().exports.file(str(export_id)), f"messages-{export_id}.csv")


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
