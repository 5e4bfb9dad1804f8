"""Messages from phones to numbers that belong to no account."""

from typing import Any

from flask import Blueprint, render_template, request

from console.pages.forms import Form
from console.pages.paging import paging
from console.session.operator import operator

pages = Blueprint("inbound", __name__, url_prefix="/inbound")


@pages.get("/")
def index() -> Any:
    """The messages, newest first, and the numbers that they were sent to."""
    form = Form({"sent_to": request.args.get("sent_to", "")})
    page = form.page(lambda: operator().inbound.page(sent_to=form.text("sent_to"), **paging()))
    numbers = operator().inbound.numbers()["data"]
    shown = render_template("operator/inbound/index.html", page=page, form=form, numbers=numbers)
    return shown, 400 if form.wrong else 200
