"""The phone numbers that get no messages."""

from typing import Any

from bulksms_client.errors import ApiError
from flask import Blueprint, abort, redirect, render_template, request, url_for
from flask_babel import gettext

from console.message.choices import find_sender, senders
from console.message.recipients import phones_of_list, plain_phone, with_plus
from console.pages.confirmations import done
from console.pages.csv_files import CHARSETS, FILE, download, tell_encoding, uploaded
from console.pages.formats import counted
from console.pages.forms import Form
from console.pages.paging import paging
from console.pages.rejections import say_added
from console.session.current import account, country, may
from shared.sms.spellings import other_spellings

UNDECIDED = "possible_stop"
"""The reason of opt-outs that a person has to decide, and the keyword of the messages that caused them."""
POSSIBLE_SHOWN = 100

pages = Blueprint("opt_outs", __name__, url_prefix="/opt-outs")


@pages.get("/")
def index() -> Any:
    """All entries, or those of one phone."""
    return _page(Form({"phones": "", "category": "", "sender_id": "", "reason": ""}), Form())


@pages.post("/")
def create() -> Any:
    """Add phones."""
    form = Form.posted()
    if form["check"]:
        return _page(form, Form())
    phones = [with_plus(each) for each in phones_of_list(form["phones"], country())]
    if not phones:
        form.errors["phones"] = gettext("Add at least one phone number.")
    if form["sender_id"] and find_sender(form["sender_id"]) is None:
        form.errors["sender_id"] = gettext("The account has no such sender ID. Choose one from the list.")
    if form.wrong:
        return _page(form, Form()), 400
    optional = {name: form.text(name) for name in ("category", "sender_id", "reason") if form.text(name)}
    with form.asking():
        _say(account().suppressions.create({"phones": phones, **optional}, form.key))
        return redirect(url_for("opt_outs.index"))
    return _page(form, Form()), 400


@pages.post("/import")
def import_file() -> Any:
    """Add the entries of a CSV file."""
    form = Form.posted(FILE)
    upload = uploaded(form)
    if upload is not None:
        with form.asking():
            _say(account().suppressions.import_file(*upload, form.text("phone_column")))
            tell_encoding(upload)
            return redirect(url_for("opt_outs.index"))
    return _page(Form(), form), 400


@pages.post("/<phone>/delete")
def delete(phone: str) -> Any:
    """Remove an entry."""
    scope = {name: request.form[name] for name in ("category", "sender_id") if request.form.get(name)}
    account().suppressions.delete(phone, **(scope or {"everything": "true"}))
    return done(gettext("The opt-out is removed."), "opt_outs.index")


@pages.post("/possible/<phone>/confirm")
def confirm(phone: str) -> Any:
    """Opt out a phone whose message may have asked for it."""
    _find_undecided(phone)
    account().suppressions.create({"phones": [f"+{phone}"], "reason": "stop"})
    _decided(phone)
    return done(gettext("The phone number is opted out."), "opt_outs.index")


@pages.post("/possible/<phone>/dismiss")
def dismiss(phone: str) -> Any:
    """Let a phone whose message was no opt-out get marketing again."""
    _find_undecided(phone)
    _decided(phone)
    return done(gettext("The phone number gets marketing again."), "opt_outs.index")


@pages.get("/opt-outs.csv")
def csv() -> Any:
    """All entries as a file."""
    return download(account().suppressions.csv(), "opt-outs.csv")


def _find_undecided(phone: str) -> None:
    """Answer 404 unless the phone waits for a decision."""
    if not account().suppressions.page(phone=phone, reason=UNDECIDED)["data"]:
        abort(404)


def _decided(phone: str) -> None:
    try:
        account().suppressions.delete(phone, category="marketing")
    except ApiError as error:
        if error.code != "suppression_not_found":  # somebody else has decided
            raise


def _possible() -> list[dict[str, Any]]:
    """The phones whose newest messages may be opt-outs, with the message, for a person to decide."""
    waiting = account().suppressions.page(limit=POSSIBLE_SHOWN, reason=UNDECIDED)["data"]
    if not waiting:
        return []
    messages: dict[str, Any] = {}
    if may("sms:read"):
        for message in account().inbound.page(limit=10 * POSSIBLE_SHOWN, keyword=UNDECIDED)["data"]:
            messages.setdefault(message["phone"], message)
    others = {other for each in waiting for other in other_spellings(each["phone"]) if each["phone"] in messages}
    return [{**each, "message": messages.get(each["phone"])} for each in waiting if each["phone"] not in others]


def _say(added: Any) -> None:
    say_added(added, counted("%(count)s opt-out added.", "%(count)s opt-outs added.", added["counts"]["added"]))


def _page(form: Form, upload: Form) -> str:
    searched = plain_phone(request.args.get("phone", ""), country()) or None
    search = Form({"phone": request.args.get("phone", "")})
    page = search.page(lambda: account().suppressions.page(phone=searched, **paging()))
    possible = _possible() if may("suppressions:read") else []
    choices = senders(form) if may("suppressions:write") else None
    shown = {"form": form, "upload": upload, "search": search, "senders": choices, "charsets": CHARSETS}
    return render_template("opt_outs/index.html", page=page, possible=possible, **shown)
