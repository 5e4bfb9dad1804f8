"""The phone numbers that get no messages."""

from typing import Any

from bulksms_client.errors import ApiError
from flask import Blueprint, abort, flash, redirect, render_template, request, url_for
from flask_babel import format_decimal, gettext

from console.message.choices import find_sender, senders
from console.message.recipients import phones_of_list, plain_phone
from console.pages.csv_files import CHARSETS, CHOOSE_CHARSET, FILE, content_type_of, download, length_of, tell_encoding
from console.pages.formats import counted
from console.pages.forms import Form
from console.pages.paging import paging
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
    phones = phones_of_list(form["phones"], country())
    if not phones:
        form.errors["phones"] = gettext("Add at least one phone number.")
    if form["sender_id"] and find_sender(form["sender_id"]) is None:
        form.errors["sender_id"] = gettext("The account has no such sender ID. Choose one from the list.")
    if form.wrong:
        return _page(form, Form()), 400
    optional = {name: form.text(name) for name in ("category", "sender_id", "reason") if form.text(name)}
    try:
        added = account().suppressions.create({"phones": phones, **optional}, form.key)
    except ApiError as error:
        return _page(form.refuse(error), Form()), 400
    _say(added)
    return redirect(url_for("opt_outs.index"))


@pages.post("/import")
def import_file() -> Any:
    """Add the entries of a CSV file."""
    form = Form.posted(FILE)
    file = request.files.get("file")
    if file is None or not file.filename:
        form.errors["file"] = gettext("Choose a file.")
        return _page(Form(), form), 400
    try:
        kind = content_type_of(file.stream, form["charset"])
        if kind is None:
            form.errors["charset"] = str(CHOOSE_CHARSET)
            return _page(Form(), form), 400
        length, column = length_of(file.stream), form.text("phone_column")
        added = account().suppressions.import_file(file.stream, length, kind, column)
    except ApiError as error:
        return _page(Form(), form.refuse(error)), 400
    _say(added)
    tell_encoding(kind)
    return redirect(url_for("opt_outs.index"))


@pages.post("/<phone>/delete")
def delete(phone: str) -> Any:
    """Remove an entry."""
    scope = {name: request.form.get(name) or None for name in ("category", "sender_id")}
    account().suppressions.delete(phone, **scope)
    flash(gettext("The opt-out is removed."), "good")
    return redirect(url_for("opt_outs.index"))


@pages.post("/possible/<phone>/confirm")
def confirm(phone: str) -> Any:
    """Opt out a phone whose message may have asked for it."""
    _find_undecided(phone)
    account().suppressions.create({"phones": [f"+{phone}"], "reason": "stop"})
    _decided(phone)
    flash(gettext("The phone number is opted out."), "good")
    return redirect(url_for("opt_outs.index"))


@pages.post("/possible/<phone>/dismiss")
def dismiss(phone: str) -> Any:
    """Let a phone whose message was no opt-out get marketing again."""
    _find_undecided(phone)
    _decided(phone)
    flash(gettext("The phone number gets marketing again."), "good")
    return redirect(url_for("opt_outs.index"))


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
    counts = added["counts"]
    text = counted("%(count)s opt-out added.", "%(count)s opt-outs added.", counts["added"])
    if counts["invalid"]:
        bad = ", ".join(str(each["phone"]) for each in added["rejected"][:3])
        text += " " + gettext("%(count)s invalid: %(phones)s", count=format_decimal(counts["invalid"]), phones=bad)
    flash(text, "warn" if counts["invalid"] else "good")


def _page(form: Form, upload: Form) -> str:
    searched = plain_phone(request.args.get("phone", ""), country()) or None
    search = Form({"phone": request.args.get("phone", "")})
    page = search.page(lambda: account().suppressions.page(phone=searched, **paging()))
    possible = _possible() if may("suppressions:read") else []
    choices = senders(form) if may("suppressions:write") else None
    shown = {"form": form, "upload": upload, "search": search, "senders": choices, "charsets": CHARSETS}
    return render_template("opt_outs/index.html", page=page, possible=possible, **shown)
