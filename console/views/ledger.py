"""Credits: the balance and the ledger."""

from typing import Any

from flask import Blueprint, render_template
from flask_babel import gettext

from console.pages.confirmations import done
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
    return done(gettext("The play credits are refilled."), "ledger.index")
