"""Messages from phones to numbers that belong to no account."""

from typing import Any

from flask import Blueprint

from console.pages.paging import listed
from console.session.operator import operator

pages = Blueprint("inbound", __name__, url_prefix="/inbound")


@pages.get("/")
def index() -> Any:
    """The messages, newest first, and the numbers that they were sent to."""
    inbound = operator().inbound
    return listed("operator/inbound/index.html", inbound.page, ("sent_to",), numbers=inbound.numbers()["data"])
