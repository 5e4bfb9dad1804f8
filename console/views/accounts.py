"""Choosing an account."""

from typing import Any

from flask import Blueprint, redirect, render_template, url_for

from console.session import current

pages = Blueprint("accounts", __name__)


@pages.get("/")
def choose() -> Any:
    """The person's accounts. With a single account, or only an operator role, the person is taken there at once."""
    person = current.person()
    if person.details.get("operator_role") and not person.accounts:
        return redirect(url_for("operator.accounts.index"))
    if len(person.accounts) == 1:
        only = person.accounts[0]["account_id"]
        return redirect(url_for("overview.show", account_id=only, world="live"))
    return render_template("accounts.html", accounts=person.accounts)


@pages.get("/healthz")
def health() -> Any:
    """Report that the process is running."""
    return {"status": "ok"}
