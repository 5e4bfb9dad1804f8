"""The queue by account, category and carrier, on a page that refreshes itself."""

from typing import Any

from flask import Blueprint, render_template

from console.session.operator import operator

pages = Blueprint("queue", __name__, url_prefix="/queue")


@pages.get("/")
def index() -> Any:
    """What waits and is being sent, and what limits it."""
    return render_template("operator/queue/index.html", queue=operator().carriers.queue()["data"])


@pages.get("/now")
def now() -> Any:
    """The same, for a page that refreshes itself."""
    return render_template("operator/queue/now.html", queue=operator().carriers.queue()["data"])
