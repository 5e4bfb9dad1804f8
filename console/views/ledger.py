"""Credits: the balance, the ledger and its statements."""

from calendar import monthrange
from typing import Any

from flask import Blueprint, render_template, url_for
from flask_babel import gettext

from console.pages.confirmations import done
from console.pages.forms import Form
from console.pages.paging import paging
from console.session.current import account, account_name

pages = Blueprint("ledger", __name__, url_prefix="/credits")


@pages.get("/")
def index() -> Any:
    """The balance, and every movement of credits."""
    balance = account().money.balance()
    page, months = account().money.transactions(**paging()), account().money.statements()["data"]
    return render_template("ledger/index.html", balance=balance, page=page, months=months)


@pages.post("/refill")
def refill() -> Any:
    """Refill the play credits of test mode."""
    account().money.refill(Form.posted().key)
    return done(gettext("The play credits are refilled."), "ledger.index")


@pages.get("/statements/<month>")
def statement(month: str) -> Any:
    """One month, to be read or printed."""
    found = account().money.statement(month)
    days = monthrange(*map(int, month.split("-")))[1]
    usage = url_for("usage.show", by="country", since=f"{month}-01", until=f"{month}-{days}")
    shown = {"statement": found, "title": account_name(), "back": url_for("ledger.index"), "usage": usage}
    return render_template("statements/show.html", **shown)
