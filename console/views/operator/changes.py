"""The audit log of the installation."""

from typing import Any

from flask import Blueprint, render_template, request

from console.pages.changes import in_words
from console.pages.forms import Form
from console.pages.paging import paging
from console.session.operator import operator

pages = Blueprint("changes", __name__, url_prefix="/changes")

FILTERS = ("account_id", "actor", "action")


@pages.get("/")
def index() -> Any:
    """All changes, newest first."""
    form = Form({name: request.args.get(name, "") for name in FILTERS})
    filters: dict[str, Any] = {name: form.text(name) for name in FILTERS}
    page = form.page(lambda: operator().installation.changes(**filters, **paging()))
    rows = [in_words(change) for change in page["data"]]
    shown = render_template("operator/changes/index.html", page=page, rows=rows, form=form)
    return shown, 400 if form.wrong else 200
