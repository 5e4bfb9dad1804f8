"""Price lists: their sheets, their versions, and the accounts that have them."""

from collections.abc import Sequence
from itertools import islice
from typing import Any, Final

from bulksms_client.errors import ApiError
from flask import Blueprint, redirect, render_template, request, url_for
from flask_babel import gettext

from console.pages.confirmations import change_at_once, done
from console.pages.csv_files import CHARSETS, download, uploaded
from console.pages.formats import utc_from_local
from console.pages.forms import Form, as_number
from console.pages.paging import paging
from console.pages.sentences import in_readers_words
from console.session.operator import operator

pages = Blueprint("prices", __name__, url_prefix="/prices")

MISTAKES: Final = 20
"""Mistakes of a sheet that are shown."""


@pages.route("/", methods=["GET", "POST"])
def index() -> Any:
    """All lists, and a form for a new one."""
    form = Form.posted() if request.method == "POST" else Form({"name": "", "carrier": ""})
    if request.method == "POST":
        with form.asking():
            made = operator().price_lists.create(form["name"].strip(), form.text("carrier"), form.key)
            return done(gettext("The price list is created."), "operator.prices.show", list_id=made["list_id"])
    page = operator().price_lists.page(**paging())
    return render_template("operator/prices/index.html", page=page, form=form), 400 if form.wrong else 200


@pages.get("/<int:list_id>")
def show(list_id: int) -> Any:
    """A list with its versions, and forms for a sheet and for who has the list."""
    return _list(list_id, Form({"account_id": ""}))


@pages.post("/<int:list_id>/import")
def load(list_id: int) -> Any:
    """Import a sheet as a draft."""
    form = Form.posted()
    form.values["file"] = ""
    upload = uploaded(form)
    if upload is not None:
        try:
            made = operator().price_lists.load(list_id, *upload, form.key)
            return redirect(url_for("operator.prices.version", version_id=made["version_id"]))
        except ApiError as error:
            form.refuse(error)
            details = (str(each.get("detail", "")) for each in error.problem.get("errors") or ())
            mistakes = [in_readers_words(each) for each in islice(details, MISTAKES)]
            if mistakes:
                form.problem = gettext("Some lines need to be corrected. Nothing was stored.")
            return _list(list_id, form, mistakes)
    return _list(list_id, form)


@pages.post("/<int:list_id>/assign")
def assign(list_id: int) -> Any:
    """Give an account the list, or make it the default; take it away with `remove`."""
    form = Form.posted()
    form.values.setdefault("account_id", "")
    account = None if form["default"] else as_number(form["account_id"])
    with form.asking():
        operator().price_lists.assign(account, None if form["remove"] else list_id, form.key)
        return done(gettext("It is valid in a minute."), "operator.prices.show", list_id=list_id)
    return _list(list_id, form)


@pages.get("/versions/<int:version_id>")
def version(version_id: int) -> Any:
    """What a version changes."""
    return _version(version_id, Form({"valid_from": ""}))


@pages.get("/versions/<int:version_id>.csv")
def csv(version_id: int) -> Any:
    """A version as a sheet."""
    return download(operator().price_lists.csv(version_id), f"prices-{version_id}.csv")


@pages.post("/versions/<int:version_id>/publish")
def publish(version_id: int) -> Any:
    """Publish a draft."""
    form = Form.posted()
    form.values.setdefault("valid_from", "")
    try:
        begins = utc_from_local(form["valid_from"]) if form["valid_from"] else None
    except ValueError:
        form.errors["valid_from"] = gettext("Enter a date and a time.")
    else:
        with form.asking():
            made = operator().price_lists.publish(version_id, begins, form.key)
            return done(gettext("The prices are published."), "operator.prices.show", list_id=made["list_id"])
    return _version(version_id, form)


@pages.post("/versions/<int:version_id>/withdraw")
def withdraw(version_id: int) -> Any:
    """Withdraw a version that is not valid yet, or delete a draft."""
    of, key = operator().price_lists.version(version_id)["list_id"], Form.posted().key
    change_at_once(lambda: operator().price_lists.withdraw(version_id, key), gettext("The prices are withdrawn."))
    return redirect(url_for("operator.prices.show", list_id=of))


def _list(list_id: int, form: Form, mistakes: Sequence[str] = ()) -> Any:
    of = operator().price_lists.one(list_id)
    shown = render_template("operator/prices/show.html", of=of, form=form, charsets=CHARSETS, mistakes=mistakes)
    return shown, 400 if form.wrong else 200


def _version(version_id: int, form: Form) -> Any:
    of = operator().price_lists.version(version_id)
    return render_template("operator/prices/version.html", of=of, form=form), 400 if form.wrong else 200
