"""Texts and full phone numbers: support staff see them after they have given a reason."""

from typing import Any

from flask import Blueprint, flash, redirect, render_template, request, url_for
from flask_babel import gettext

from console.pages.addresses import page_here
from console.pages.confirmations import done, need_reason
from console.pages.forms import Form
from console.session import operator

pages = Blueprint("access", __name__, url_prefix="/access")


@pages.get("/")
def show() -> Any:
    """What can be seen at present, and the form for a reason."""
    return render_template("operator/access.html", form=Form({"reason": "", "next": request.args.get("next", "")}))


@pages.post("/")
def give() -> Any:
    """Give the reason, and show them for an hour."""
    form = Form.posted()
    need_reason(form)
    if not form.wrong:
        with form.asking():
            operator.give_reason(form["reason"].strip())
    if form.wrong:
        return render_template("operator/access.html", form=form), 400
    flash(gettext("Full phone numbers and texts are shown for an hour. The reason is recorded."), "good")
    return redirect(page_here(form["next"]) or url_for("operator.messages.index"))


@pages.post("/end")
def end() -> Any:
    """Hide them again."""
    operator.end_reason()
    return done(gettext("Phone numbers and texts are masked again."), "operator.access.show")
