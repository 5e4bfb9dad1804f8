"""Sender IDs and their state."""

from typing import Any

from flask import Blueprint, flash, redirect, render_template, url_for
from flask_babel import gettext

from console.message.choices import find_sender
from console.pages.confirmations import done
from console.pages.forms import Form
from console.pages.paging import paging
from console.session.current import account

pages = Blueprint("sender_ids", __name__, url_prefix="/sender-ids")


@pages.get("/")
def index() -> Any:
    """All sender IDs of the account."""
    return _page(Form({"sender_id": "", "use_case": ""}))


@pages.post("/")
def create() -> Any:
    """Request a sender ID, on which the operator decides."""
    form = Form.posted()
    name = form["sender_id"].strip()
    with form.asking():
        before = find_sender(name)
        now = account().sender_ids.create(name, form.text("use_case"), form.key)
        _say(name, before["status"] if before else None, now["status"])
        return redirect(url_for("sender_ids.index"))
    return _page(form), 400


@pages.post("/<uuid:id>/delete")
def delete(id: Any) -> Any:
    """Remove a sender ID."""
    account().sender_ids.delete(str(id))
    return done(gettext("The sender ID is removed."), "sender_ids.index")


def _say(name: str, before: str | None, now: str) -> None:
    """Say what a request has changed: nothing, if the sender ID existed and was not rejected."""
    if now == "approved" and before is None:
        flash(gettext("%(sender)s is approved: test mode needs no decision.", sender=name), "good")
    elif now == "approved":
        flash(gettext("%(sender)s is already approved. You can use it.", sender=name), "good")
    elif now == "suspended":
        flash(gettext("%(sender)s is suspended, and cannot be requested again. Ask the operator.", sender=name), "warn")
    elif before == "pending":
        flash(gettext("%(sender)s was requested before, and is awaiting the operator's decision.", sender=name), "warn")
    elif before == "rejected":
        flash(gettext("%(sender)s was rejected before, and is now requested again.", sender=name), "good")
    else:
        flash(gettext("The sender ID is requested. The operator's decision will appear here."), "good")


def _page(form: Form) -> str:
    return render_template("sender_ids/index.html", page=account().sender_ids.page(**paging()), form=form)
