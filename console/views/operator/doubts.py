"""Messages in doubt: resolved by hand, or by a carrier's report."""

import io
from typing import Any

from flask import Blueprint, flash, redirect, render_template, request, url_for
from flask_babel import gettext

from console.pages.confirmations import done
from console.pages.formats import OUTCOMES, counted
from console.pages.forms import Form
from console.pages.paging import listed
from console.session.operator import operator

pages = Blueprint("doubts", __name__, url_prefix="/doubts")

MOST_BYTES = 16 * 1024 * 1024
"""Largest report: it is on the page that asks whether to use it."""
WITHIN_SECONDS = "300"


@pages.get("/")
def index() -> Any:
    """Messages in doubt, the oldest first."""
    return listed("operator/doubts/index.html", operator().doubts.page, ("carrier", "send_id"))


@pages.post("/resolve")
def resolve() -> Any:
    """Ask what became of the chosen messages, and resolve them."""
    form = Form.posted()
    chosen = form.many("message_ids")
    if not chosen:
        flash(gettext("Choose at least one message."), "warn")
        return redirect(url_for("operator.doubts.index"))
    form.values.setdefault("reason", "")
    if form["outcome"]:
        with form.asking():
            made = operator().doubts.resolve(chosen, form["outcome"], form.text("reason"), form.key)
            notice = counted("%(count)s message is resolved.", "%(count)s messages are resolved.", made["resolved"])
            return done(notice, "operator.doubts.index")
    elif form["asked"]:
        form.errors["outcome"] = gettext("Choose an outcome.")
    shown = render_template("operator/doubts/resolve.html", form=form, chosen=chosen, outcomes=OUTCOMES)
    return shown, 400 if form.wrong else 200


@pages.route("/report", methods=["GET", "POST"])
def report() -> Any:
    """Match a carrier's report; what it would resolve is shown before it is used."""
    if request.method == "GET":
        form = Form({"carrier": request.args.get("carrier", ""), "within_seconds": WITHIN_SECONDS})
        return render_template("operator/doubts/report.html", form=form, result=None, text="")
    form = Form.posted()
    text = _report(form)
    result = None
    if not form.wrong:
        with form.asking():
            result = _reconcile(form, text)
    shown = render_template("operator/doubts/report.html", form=form, result=result, text=text)
    return shown, 400 if form.wrong else 200


def _report(form: Form) -> str:
    """The report of the form: a new file, or the text that was looked at before."""
    file = request.files.get("file")
    if form["apply"] and form["report"]:
        return form["report"].replace("\r\n", "\n")  # a browser sends one more character for each line
    raw = file.stream.read(MOST_BYTES + 1) if file is not None else b""
    form.values["file"] = ""
    if not raw:
        form.errors["file"] = gettext("Choose a file.")
    elif len(raw) > MOST_BYTES:
        form.errors["file"] = gettext("This is too large.")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        form.errors["file"] = gettext("Save the file as UTF-8.")
        return ""


def _reconcile(form: Form, text: str) -> Any:
    raw = text.encode()
    apply = {"apply": "true", "key": form.key} if form["apply"] else {}
    within = form.text("within_seconds") or WITHIN_SECONDS
    return operator().doubts.reconcile(
        form["carrier"].strip(), io.BytesIO(raw), len(raw), within_seconds=within, **apply
    )
