"""What a segment costs: to a phone number, and by the price list."""

from typing import Any

from flask import Blueprint, render_template, request

from console.pages.csv_files import download
from console.pages.forms import Form
from console.pages.paging import paging
from console.session.current import account

pages = Blueprint("prices", __name__, url_prefix="/prices")


@pages.get("/")
def index() -> Any:
    """The list, now or from an announced moment on, and the price of a phone number."""
    form = Form({name: request.args.get(name, "") for name in ("phone", "category")})
    found = None
    if phone := form.text("phone"):
        with form.asking():
            digits = "".join(filter(str.isalnum, phone))
            found = account().money.prices(phone=digits, category=form.text("category"))
    page = None
    if at := request.args.get("at"):
        with form.asking():
            page = account().money.prices(**paging(), at=at)
    page = page or account().money.prices(**paging())
    return render_template("prices/index.html", form=form, found=found, page=page), 400 if form.wrong else 200


@pages.get("/prices.csv")
def csv() -> Any:
    """The list as a file."""
    return download(account().money.prices_csv(), "prices.csv")
