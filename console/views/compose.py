"""Writing a message: to one phone, a pasted list, a CSV file or a group."""

from typing import Any

from bulksms_client.errors import ApiError
from flask import Blueprint, redirect, render_template, request, url_for
from flask_babel import gettext

from console.message.choices import groups, senders
from console.message.drafts import FIELDS, FIELDS_OF_FILE, Draft
from console.message.quotes import MessagePreview, preview, preview_without_price, recipients_known
from console.message.recipients import UnknownCharset, decoded, sample_of
from console.pages.csv_files import CHARSETS, CHOOSE_CHARSET
from console.pages.forms import Form
from console.pages.problems import REFUSALS
from console.pages.sentences import in_readers_words
from console.session.current import account, require
from shared.contacts.text_stream import LineTooLong, NotText, WrongEncoding

pages = Blueprint("compose", __name__, url_prefix="/compose")

LARGEST_FILE = 20 * 1024 * 1024
SMALL_FILE = 64 * 1024
"""Characters of a file that is priced as a whole while the message is written; of a larger one, only its first rows."""
PREFILLED = ("kind", "phone", "sender_id", "group_id", "message", "category")


@pages.before_request
def only_who_may_send() -> None:
    """Refuse everybody else before anything is typed."""
    require("sms:send")


@pages.route("/", methods=["GET", "POST"])
def write() -> Any:
    """The form; posted, it is checked and shown again."""
    if request.method == "GET":
        given = {name: request.args[name] for name in PREFILLED if name in request.args}
        form = Form({"kind": "one", "when": "now", "category": "transactional", **given})
    else:
        form = _posted()
        if form["replace"]:
            form.values["message"] = form["plain_text"]
    return _page(form)


@pages.post("/quote")
def quote() -> Any:
    """Segments, encoding, price and preview, while the message is written."""
    draft = Draft(Form.posted(FIELDS))
    return render_template("compose/quote.html", form=draft.form, draft=draft, preview=preview(draft), is_live=True)


@pages.post("/confirm")
def confirm() -> Any:
    """Show how many people get the message, what it costs and when it goes out, before anything is sent."""
    return _confirmation(_posted())


@pages.post("/send")
def send() -> Any:
    """Send it. The form's key ensures that it happens only once."""
    form = _posted()
    body = Draft(form).body()
    if form.errors:
        return _confirmation(form)
    try:
        sent = account().sends.create({**body, "quote_id": form["quote_id"]}, form.key)
    except ApiError as error:
        if error.code == "idempotency_key_reused":
            return render_template("compose/sent.html"), 409
        return _confirmation(form.refuse(error))
    return redirect(url_for("sends.show", send_id=sent["send_id"]))


@pages.get("/confirm")
@pages.get("/send")
def to_new_message() -> Any:
    """Redirect from addresses that only a form leads to."""
    return redirect(url_for("compose.write"))


def _posted() -> Form:
    """The form, with the text of an uploaded file in it."""
    form = Form.posted(FIELDS_OF_FILE if request.form.get("kind") == "file" else FIELDS)
    uploaded = request.files.get("file")
    if uploaded is not None and uploaded.filename:
        content = uploaded.stream.read(LARGEST_FILE + 1)
        file = _text_of(content, form) if len(content) <= LARGEST_FILE else ""
        if "file" in form.errors or "charset" in form.errors:
            return form
        if max(len(content), len(file.encode())) > LARGEST_FILE:  # forms carry it in UTF-8, which may be longer
            form.errors["file"] = gettext("The file is larger than 20 MB. Import it into a group instead.")
            return form
        for name in [name for name in form.values if name.startswith("column_")]:
            del form.values[name]
        form.values["file_text"] = file
        form.values["file_name"] = uploaded.filename
        form.values["phone_column"] = form.values["file_rows"] = ""
    return form


def _text_of(content: bytes, form: Form) -> str:
    """The text of an uploaded file; empty, with an error in the form, if it cannot be read."""
    try:
        return decoded(content, form["charset"] if form["charset"] in CHARSETS else "")
    except UnknownCharset:
        form.errors["charset"] = str(CHOOSE_CHARSET)
    except NotText:
        form.errors["file"] = str(REFUSALS["unsupported_media_type"])
    except (WrongEncoding, LineTooLong) as wrong:
        form.errors["file"] = in_readers_words(str(wrong))
    return ""


def _page(form: Form) -> Any:
    draft = Draft(form)
    if draft.kind == "file" and form["file_text"]:
        form.values["file_rows"] = str(draft.count)
        form.values["file_sample"] = sample_of(form["file_text"])
    shown = _without_price(draft) if form.wrong else preview(draft)
    choices = {"senders": senders(form), "groups": groups(form), "is_small_file": len(form["file_text"]) <= SMALL_FILE}
    choices["charsets"] = CHARSETS
    return render_template("compose/write.html", form=form, draft=draft, preview=shown, **choices)


def _without_price(draft: Draft) -> MessagePreview | None:
    """For a message with errors, only what helps to correct it: the fields of a group's contacts."""
    return recipients_known(draft) if draft.kind == "group" else None


def _confirmation(form: Form) -> Any:
    draft = Draft(form)
    body = draft.body()
    if "phone_column" in form.errors:
        return _page(form), 400
    try:
        quoted = account().sends.quote(body)
    except ApiError as error:
        form.refuse(error)
    else:
        if not form.errors:
            form.values["quote_id"] = quoted["quote_id"]
            group = account().groups.one(body["group_id"]) if draft.kind == "group" else None
            shown = {
                "form": form,
                "draft": draft,
                "quote": quoted,
                "body": body,
                "preview": preview_without_price(draft),
                "group": group,
            }
            return render_template("compose/confirm.html", **shown), 400 if form.wrong else 200
    return _page(form), 400
