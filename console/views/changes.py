"""The log of changes: who has changed what."""

from typing import Any

from flask import Blueprint, render_template

from console.current import account
from console.paging import paging

pages = Blueprint("changes", __name__, url_prefix="/changes")


@pages.get("/")
def index() -> Any:
    """All changes, newest first."""
    return render_template("changes/index.html", page=account().people.changes(**paging()))
