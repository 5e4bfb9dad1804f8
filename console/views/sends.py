"""Sends: the list, one send with its live progress, and its recipients."""

from collections import Counter
from functools import partial
from typing import Any

from flask import Blueprint, make_response, redirect, render_template, request, url_for
from flask_babel import gettext

from console.message.progress import Progress
from console.message.recipients import differs_by_recipient
from console.message.send_changes import change_form, posted_change
from console.pages.confirmations import change_at_once, done
from console.pages.csv_files import download
from console.pages.message_errors import explained
from console.pages.paging import listed
from console.session.current import account, require
from shared.lifecycle import MessageStatus, SendState

pages = Blueprint("sends", __name__, url_prefix="/sends")


@pages.get("/")
def index() -> Any:
    """All sends, newest first."""
    filters = ("status", "reference")
    return listed("sends/index.html", account().sends.page, filters, states=SendState, progress_of=Progress)


@pages.get("/<uuid:send_id>")
def show(send_id: Any) -> Any:
    """One send."""
    send = account().sends.one(str(send_id))
    shown = {"send": send, "progress": Progress(send), "differs": differs_by_recipient(send)}
    return render_template("sends/show.html", **shown)


@pages.get("/<uuid:send_id>/progress")
def progress(send_id: Any) -> Any:
    """A send's progress, for a page that refreshes itself; if more messages failed, it reloads the reasons too."""
    send = account().sends.one(str(send_id))
    progress = Progress(send)
    response = make_response(render_template("sends/progress.html", send=send, progress=progress))
    if request.args.get("unsuccessful", "0") != str(progress.unsuccessful):
        response.headers["HX-Trigger"] = "reasons-changed"
    return response


@pages.get("/<uuid:send_id>/reasons")
def reasons(send_id: Any) -> Any:
    """Why messages failed or are in doubt. The page then reloads its counts, so that both are from the same moment."""
    counted: Counter[str] = Counter()
    for each in account().sends.errors(str(send_id))["data"]:
        counted[each["code"] or each["status"]] += each["count"]
    rows = [(explained(code), count) for code, count in counted.most_common()]
    response = make_response(render_template("sends/reasons.html", rows=rows, send_id=send_id))
    response.headers["HX-Trigger"] = "reasons-loaded"
    return response


@pages.get("/<uuid:send_id>/rejected")
def rejected(send_id: Any) -> Any:
    """The recipients who get no message, each with the reason."""
    send, listed = account().sends.one(str(send_id)), account().sends.rejected(str(send_id))["data"]
    return render_template("sends/rejected.html", send=send, listed=listed, count=Progress(send).rejected)


@pages.get("/<uuid:send_id>/recipients")
def recipients(send_id: Any) -> Any:
    """Its messages, one for each recipient."""
    send, ask = account().sends.one(str(send_id)), partial(account().sends.messages, str(send_id))
    return listed("sends/recipients.html", ask, ("status",), send=send, outcomes=MessageStatus)


@pages.get("/<uuid:send_id>/recipients.csv")
def recipients_csv(send_id: Any) -> Any:
    """The same as a file."""
    chunks = account().sends.messages_csv(str(send_id), status=request.args.get("status") or None)
    return download(chunks, f"send-{send_id}.csv")


@pages.post("/<uuid:send_id>/<any(pause, resume, cancel):action>")
def control(send_id: Any, action: str) -> Any:
    """Pause, resume or cancel it."""
    acts = {"pause": account().sends.pause, "resume": account().sends.resume, "cancel": account().sends.cancel}
    texts = {
        "pause": gettext("The send is paused."),
        "resume": gettext("The send has resumed."),
        "cancel": gettext("Send canceled. Unused credits have been released."),
    }
    conflict = gettext("This is no longer possible: the send has changed. This is its current state.")
    change_at_once(lambda: acts[action](str(send_id)), texts[action], conflict)
    return redirect(url_for("sends.show", send_id=send_id))


@pages.route("/<uuid:send_id>/change", methods=["GET", "POST"])
def change(send_id: Any) -> Any:
    """Change when it is due, when it expires, how fast it goes, or its text if all get the same."""
    require("sms:send")
    send = account().sends.one(str(send_id))
    shown = {"send": send, "differs": differs_by_recipient(send)}
    if request.method == "GET":
        return render_template("sends/change.html", form=change_form(send), **shown)
    form, changes = posted_change(send)
    if not form.wrong:
        with form.asking():
            if changes:
                account().sends.change(str(send_id), changes)
            return done(gettext("The send is changed."), "sends.show", send_id=send_id)
    return render_template("sends/change.html", form=form, **shown), 400
