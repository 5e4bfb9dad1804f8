"""Webhooks: where events are posted, and what became of them."""

from typing import Any

from flask import Blueprint, render_template, request
from flask_babel import gettext

from console.pages.confirmations import done
from console.pages.forms import Form
from console.pages.paging import paging
from console.session.current import account, require
from shared.lifecycle import DELIVERY_STATES, EventType

pages = Blueprint("webhooks", __name__, url_prefix="/webhooks")

EVENTS = [event for event in EventType if event != EventType.WEBHOOK_TEST]
PENDING_SECONDS, IDLE_SECONDS = 3, 6
"""Seconds until the log is polled again: while something waits to be posted, and otherwise."""


@pages.get("/")
def index() -> Any:
    """All webhooks."""
    return render_template("webhooks/index.html", page=account().webhooks.page(**paging()))


@pages.route("/new", methods=["GET", "POST"])
def create() -> Any:
    """A new webhook. Its secret is shown once."""
    require("webhooks:write")
    if request.method == "GET":
        return render_template("webhooks/edit.html", form=Form({"url": "", "description": ""}), events=EVENTS)
    form = Form.posted()
    with form.asking():
        made = account().webhooks.create(_body(form), form.key)
        return render_template("webhooks/secret.html", webhook=made)
    return render_template("webhooks/edit.html", form=form, events=EVENTS), 400


@pages.get("/<uuid:webhook_id>")
def show(webhook_id: Any) -> Any:
    """One webhook and its log."""
    shown = _log(str(webhook_id))
    return render_template("webhooks/show.html", **shown), 400 if shown["form"].wrong else 200


@pages.get("/<uuid:webhook_id>/log")
def log(webhook_id: Any) -> Any:
    """The newest entries of the log, for a page that refreshes itself."""
    return render_template("webhooks/log.html", **_log(str(webhook_id)))


@pages.route("/<uuid:webhook_id>/edit", methods=["GET", "POST"])
def edit(webhook_id: Any) -> Any:
    """Change a webhook."""
    require("webhooks:write")
    webhook = account().webhooks.one(str(webhook_id))
    if request.method == "GET":
        form = Form({"url": webhook["url"] or "", "description": webhook["description"] or ""})
        form.values.setlist("events", webhook["events"] or [])
        return render_template("webhooks/edit.html", form=form, events=EVENTS, webhook=webhook)
    form = Form.posted()
    with form.asking():
        account().webhooks.change(str(webhook_id), _body(form, has_url=webhook["url"] is not None))
        return done(gettext("The webhook is changed."), "webhooks.show", webhook_id=webhook_id)
    return render_template("webhooks/edit.html", form=form, events=EVENTS, webhook=webhook), 400


@pages.post("/<uuid:webhook_id>/<any(enable, disable, test, delete):action>")
def control(webhook_id: Any, action: str) -> Any:
    """Switch it on or off, post a test event, or delete it."""
    webhooks, webhook = account().webhooks, str(webhook_id)
    if action == "delete":
        webhooks.delete(webhook)
        return done(gettext("The webhook is deleted."), "webhooks.index")
    if action == "test":
        webhooks.test(webhook, Form.posted().key)
        notice = gettext("A test event is on its way. The result will appear in the log.")
    else:
        webhooks.change(webhook, {"status": "active" if action == "enable" else "disabled"})
        notice = gettext("The webhook is changed.")
    return done(notice, "webhooks.show", webhook_id=webhook_id)


@pages.post("/<uuid:webhook_id>/rotate")
def rotate(webhook_id: Any) -> Any:
    """A new secret, shown once."""
    made = account().webhooks.rotate_secret(str(webhook_id), Form.posted().key)
    return render_template("webhooks/secret.html", webhook=made)


@pages.post("/<uuid:webhook_id>/replay")
def replay(webhook_id: Any) -> Any:
    """Post an event again."""
    form = Form.posted()
    account().webhooks.replay(str(webhook_id), form["event_id"], form.key)
    return done(gettext("The event will be posted again."), "webhooks.show", webhook_id=webhook_id)


def _body(form: Form, has_url: bool = True) -> dict[str, Any]:
    """The body of a request. Without a chosen event, the webhook gets all of them.

    A webhook that posts to each send's `callback_url` has no `url`, and cannot be given one.
    """
    return {
        **({"url": form["url"].strip()} if has_url else {}),
        "description": form.text("description"),
        "events": form.many("events") or None,
    }


def _log(webhook_id: str) -> dict[str, Any]:
    """The webhook and a page of its log. The first page refreshes itself, sooner while something is to be posted."""
    form = Form({"status": request.args.get("status", "")})
    is_first = "cursor" not in request.args and form["status"] in ("", *DELIVERY_STATES)
    page = form.page(lambda: account().webhooks.deliveries(webhook_id, status=form.text("status"), **paging()))
    is_pending = any(each["status"] == "pending" for each in page["data"])
    return {
        "webhook": account().webhooks.one(webhook_id),
        "page": page,
        "form": form,
        "states": DELIVERY_STATES,
        "refresh": (PENDING_SECONDS if is_pending else IDLE_SECONDS) if is_first else None,
    }
