"""The audit log of the installation."""

from typing import Any

from flask import Blueprint

from console.pages.paging import listed
from console.session.operator import operator

pages = Blueprint("changes", __name__, url_prefix="/changes")

FILTERS = ("account_id", "actor", "action")


@pages.get("/")
def index() -> Any:
    """All changes, newest first."""
    return listed("operator/changes/index.html", operator().installation.changes, FILTERS)
