"""What messages brought, and what they cost."""

from typing import Any

from flask import Blueprint

from console.pages.paging import listed
from console.session.operator import operator

pages = Blueprint("margin", __name__, url_prefix="/margin")

DIMENSIONS = ("day", "account", "country", "carrier")


@pages.get("/")
def index() -> Any:
    """A page of the report."""
    return listed("operator/margin/index.html", operator().carriers.margin, ("since", "until", "by"), all=DIMENSIONS)
