"""Credits: the balance and the ledger."""

from typing import Any

from flask import Blueprint, flash, redirect, render_template, url_for
from flask_babel import gettext

from console.pages.forms import Form
from console.pages.paging import paging
from console.session.current import account

pages = Blueprint("ledger", __name__, url_prefix="/credits")


@pages.get("/")
def index() -> Any:
    """The balance, and every movement of credits."""
    balance = account().money.balance()
    return render_template("ledger/index.html", balance=balance, page=account().money.transactions(**paging()))


@pages.post("/refill")
def refill() -> Any:
    """Refill the play credits of test mode."""
    account().money.refill(Form.posted().key)
    flash(gettext("The play credits are refilled."), "good")
    return redirect(url_for("ledger.index"))
