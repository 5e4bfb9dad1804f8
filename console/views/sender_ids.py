"""Sender IDs and their state."""

from typing import Any

from bulksms_client.errors import ApiError
from flask import Blueprint, flash, redirect, render_template, url_for
from flask_babel import gettext

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
    """Request one. The operator decides."""
    form = Form.posted()
    try:
        account().sender_ids.create(form["sender_id"].strip(), form.text("use_case"), form.key)
    except ApiError as error:
        return _page(form.refuse(error)), 400
    flash(gettext("The sender ID is requested. The operator's decision will appear here."), "good")
    return redirect(url_for("sender_ids.index"))


@pages.post("/<uuid:id>/delete")
def delete(id: Any) -> Any:
    """Give one up."""
    account().sender_ids.delete(str(id))
    flash(gettext("The sender ID is removed."), "good")
    return redirect(url_for("sender_ids.index"))


def _page(form: Form) -> str:
    return render_template("sender_ids/index.html", page=account().sender_ids.page(**paging()), form=form)
