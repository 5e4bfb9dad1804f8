"""The queue of sender IDs that accounts have requested, and the decisions on them."""

from typing import Any

from flask import Blueprint, redirect, render_template, request, url_for
from flask_babel import gettext

from console.pages.confirmations import Question, change_at_once, confirm
from console.pages.forms import Form
from console.pages.paging import paging
from console.session.operator import operator
from shared.lifecycle import SENDER_ID_STATES

pages = Blueprint("sender_ids", __name__, url_prefix="/sender-ids")

ALL = "all"


@pages.get("/")
def index() -> Any:
    """Those that wait for a decision, or those of another state; of one account if the address names it."""
    state = request.args.get("status") or SENDER_ID_STATES[0]
    if state not in (*SENDER_ID_STATES, ALL):
        state = SENDER_ID_STATES[0]
    of = request.args.get("account_id") or None
    page = operator().sender_ids.page(status=None if state == ALL else state, account_id=of, **paging())
    return render_template("operator/sender_ids/index.html", page=page, state=state, states=SENDER_ID_STATES, of=of)


@pages.post("/<uuid:sender>/approve")
def approve(sender: Any) -> Any:
    """Approve a sender ID."""
    key = Form.posted().key
    change_at_once(lambda: operator().sender_ids.approve(str(sender), key=key), gettext("The sender ID is approved."))
    return redirect(url_for("operator.sender_ids.index"))


@pages.route("/<uuid:sender>/<any(reject, suspend):decision>", methods=["GET", "POST"])
def decide(sender: Any, decision: str) -> Any:
    """Reject or suspend a sender ID."""
    found, back = operator().sender_ids.one(str(sender)), url_for("operator.sender_ids.index")
    detail = gettext("The account sees the reason. Open sends from it are held.")
    names = {"sender": found["sender_id"], "account": found["account"]}
    if decision == "reject":
        question = Question(gettext("Reject %(sender)s of %(account)s", **names), detail, gettext("Reject"), back)
        notice = gettext("The sender ID is rejected.")
    else:
        question = Question(gettext("Suspend %(sender)s of %(account)s", **names), detail, gettext("Suspend"), back)
        notice = gettext("The sender ID is suspended.")

    def change(form: Form) -> str:
        api = operator().sender_ids
        act = api.reject if decision == "reject" else api.suspend
        act(str(sender), form["reason"].strip(), form.key)
        return str(notice)

    return confirm(question, change)
