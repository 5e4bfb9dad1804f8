"""The audit log: who has changed what."""

from typing import Any

from flask import Blueprint, render_template

from console.pages.paging import paging
from console.session.current import account

pages = Blueprint("changes", __name__, url_prefix="/changes")


@pages.get("/")
def index() -> Any:
    """All changes, newest first."""
    page = account().people.changes(**paging())
    return render_template("changes/index.html", page=page)
