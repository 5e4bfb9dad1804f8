"""Accounts: the list, one account, its state, its credit, top-ups, adjustments, statements, and refunds."""

from http import HTTPStatus
from typing import Any
from uuid import UUID

from bulksms_client.errors import ApiError
from flask import Blueprint, render_template, request, url_for
from flask_babel import gettext

from console.pages.amounts import as_typed, typed_credits
from console.pages.confirmations import Question, confirm, done, need_reason
from console.pages.formats import counted
from console.pages.forms import Form, as_number
from console.pages.paging import listed, paging
from console.session.operator import operator
from shared.lifecycle import ACCOUNT_STATES

pages = Blueprint("accounts", __name__, url_prefix="/accounts")

TOP_UPS = 20
"""Top-ups on the page of an account."""
SENDER_IDS = 100
"""Sender IDs on the page of an account, which may have a thousand."""


@pages.get("/")
def index() -> Any:
    """Accounts with balance and today's traffic."""
    ask = operator().accounts.page
    return listed("operator/accounts/index.html", ask, ("search", "status"), states=ACCOUNT_STATES)


@pages.get("/<int:account_id>")
def show(account_id: int) -> Any:
    """One account."""
    api = operator()
    return render_template(
        "operator/accounts/show.html",
        account=api.accounts.one(account_id),
        limits=api.accounts.limits(account_id),
        rules=api.accounts.rules(account_id)["data"],
        senders=api.sender_ids.page(account_id=account_id, limit=SENDER_IDS),
        keys=api.api_keys.page(account_id, limit=100)["data"],
        smpp=api.accounts.smpp_credentials(account_id)["data"],
        top_ups=api.top_ups.page(account_id, **paging(TOP_UPS)),
        months=api.accounts.statements(account_id)["data"],
    )


@pages.get("/<int:account_id>/statements/<month>")
def statement(account_id: int, month: str) -> Any:
    """One month of an account, to be read or printed."""
    name, found = operator().accounts.one(account_id)["name"], operator().accounts.statement(account_id, month)
    back = url_for("operator.accounts.show", account_id=account_id)
    return render_template("statements/show.html", statement=found, title=name, back=back)


@pages.route("/<int:account_id>/<any(suspend, activate):action>", methods=["GET", "POST"])
def control(account_id: int, action: str) -> Any:
    """Suspend or activate an account."""
    accounts = operator().accounts
    name, back = accounts.one(account_id)["name"], url_for("operator.accounts.show", account_id=account_id)
    if action == "suspend":
        act, title, button = accounts.suspend, gettext("Suspend %(account)s", account=name), gettext("Suspend")
        text = gettext("It accepts nothing new, and its tokens stop working. Accepted sends continue.")
        notice = gettext("The account is suspended.")
    else:
        act, title, button = accounts.activate, gettext("Activate %(account)s", account=name), gettext("Activate")
        text = gettext("It accepts sends again, and what waits is sent.")
        notice = gettext("The account is active.")

    def change(form: Form) -> str:
        act(account_id, form["reason"].strip(), form.key)
        return str(notice)

    return confirm(Question(title, text, button, back), change)


@pages.route("/<int:account_id>/top-up", methods=["GET", "POST"])
def top_up(account_id: int) -> Any:
    """Add credits: first the form, then what it means, then the top-up, once for each form."""
    account = operator().accounts.one(account_id)
    if request.method == "GET":
        form = Form({"credits": "", "reason": ""})
        return render_template("operator/accounts/top_up.html", account=account, form=form, credits=None)
    form = Form.posted()
    credits = typed_credits(form)
    need_reason(form)
    if not form.wrong and form["confirmed"]:
        with form.asking():
            made = operator().top_ups.create(account_id, credits, form["reason"].strip(), form.key)
            notice = counted("%(count)s credit added.", "%(count)s credits added.", made["credits"])
            return done(notice, "operator.accounts.show", account_id=account_id)
    requested = None if form.wrong else credits
    shown = render_template("operator/accounts/top_up.html", account=account, form=form, credits=requested)
    return shown, 400 if form.wrong else 200


@pages.route("/<int:account_id>/top-ups/<uuid:top_up_id>/reverse", methods=["GET", "POST"])
def reverse(account_id: int, top_up_id: Any) -> Any:
    """Reverse credits of a mistaken top-up."""
    account = operator().accounts.one(account_id)
    question = Question(
        gettext("Reverse a top-up of %(account)s", account=account["name"]),
        counted(
            "Reverses a mistaken top-up, once. The account has %(count)s credit to spend.",
            "Reverses a mistaken top-up, once. The account has %(count)s credits to spend.",
            account["balance"],
        ),
        gettext("Reverse the top-up"),
        url_for("operator.accounts.show", account_id=account_id),
    )

    def change(form: Form) -> str:
        credits = typed_credits(form)
        if form.wrong:
            return ""
        operator().top_ups.reverse(account_id, str(top_up_id), credits, form["reason"].strip(), form.key)
        return counted("%(count)s credit reversed.", "%(count)s credits reversed.", credits)

    values = {"credits": as_typed(request.args.get("credits", type=int))}
    return confirm(question, change, values=values, template="operator/accounts/reverse.html")


@pages.route("/<int:account_id>/adjust", methods=["GET", "POST"])
def adjust(account_id: int) -> Any:
    """Add or take credits, such as a correction."""
    account = operator().accounts.one(account_id)
    question = Question(
        gettext("Adjust the credits of %(account)s", account=account["name"]),
        gettext("Adds credits, or takes them with a number below 0. The account sees the reason."),
        gettext("Adjust"),
        url_for("operator.accounts.show", account_id=account_id),
    )

    def change(form: Form) -> str:
        credits = typed_credits(form, signed=True)
        if form.wrong:
            return ""
        operator().top_ups.adjust(account_id, credits, form["reason"].strip(), form.key)
        return str(gettext("The credits are adjusted."))

    return confirm(question, change, values={"credits": ""}, template="operator/accounts/reverse.html")


@pages.route("/<int:account_id>/credit", methods=["GET", "POST"])
def credit(account_id: int) -> Any:
    """Change the credit limit and the spend threshold."""
    account = operator().accounts.one(account_id)
    question = Question(
        gettext("Credit of %(account)s", account=account["name"]),
        gettext("An account that owes more than its credit limit sends nothing more until it is topped up."),
        gettext("Change"),
        url_for("operator.accounts.show", account_id=account_id),
    )

    def change(form: Form) -> str:
        limit = typed_credits(form, "credit_limit")
        threshold = typed_credits(form, "spend_threshold") if form.text("spend_threshold") else None
        if form.wrong:
            return ""
        changes = {"credit_limit": limit, "spend_threshold": threshold, "reason": form["reason"].strip()}
        operator().accounts.change(account_id, changes)
        return str(gettext("The credit is changed."))

    values = {name: as_typed(account[name]) for name in ("credit_limit", "spend_threshold")}
    return confirm(question, change, values=values, template="operator/accounts/credit.html")


@pages.route("/<int:account_id>/verification", methods=["GET", "POST"])
def verification(account_id: int) -> Any:
    """Change how its verifications work."""
    account = operator().accounts.one(account_id)
    settings = account["verification"]
    question = Question(
        gettext("One-time passwords of %(account)s", account=account["name"]),
        gettext("Verifications that have begun keep their code and its checks."),
        gettext("Change"),
        url_for("operator.accounts.show", account_id=account_id),
    )

    def change(form: Form) -> str:
        lines = [line.partition(":") for line in form["texts"].splitlines() if line.strip()]
        texts = {language.strip(): text.strip() for language, _, text in lines}
        numbers = {name: as_number(form[name]) for name in settings if name != "texts"}
        changes = {"verification": {**numbers, "texts": texts}, "reason": form["reason"].strip()}
        operator().accounts.change(account_id, changes)
        return str(gettext("The settings are changed."))

    values = {name: str(value) for name, value in settings.items()}
    values["texts"] = "\n".join(f"{language}: {text}" for language, text in settings["texts"].items())
    return confirm(question, change, values=values, template="operator/accounts/verification.html")


@pages.route("/<int:account_id>/refund", methods=["GET", "POST"])
def refund(account_id: int) -> Any:
    """Give back what was charged for a send or a message, once."""
    account, api = operator().accounts.one(account_id), operator().top_ups
    question = Question(
        gettext("Refund %(account)s", account=account["name"]),
        gettext("Refunds what was charged for a send or a message, once."),
        gettext("Refund"),
        url_for("operator.accounts.show", account_id=account_id),
    )

    def change(form: Form) -> str:
        form.values.setdefault("id", "")
        try:
            subject = str(UUID(form["id"].strip()))
        except ValueError:
            form.errors["id"] = gettext("Enter the ID of a send or a message, as shown by the API and the console.")
            return ""
        give_back = api.refund_message if form.text("kind") == "message" else api.refund_send
        try:
            made = give_back(account_id, subject, form["reason"].strip(), form.key)
        except ApiError as error:
            if error.status != HTTPStatus.NOT_FOUND:
                raise
            form.errors["id"] = gettext("This account has no send or message with this ID.")
            return ""
        return counted("%(count)s credit refunded.", "%(count)s credits refunded.", made["credits"])

    values = {"kind": "send", "id": ""}
    return confirm(question, change, values=values, template="operator/accounts/refund.html")
