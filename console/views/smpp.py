"""SMPP credentials: who may bind, and who has. A password is shown once, in the response to its form."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from flask import Blueprint, render_template, request
from flask_babel import gettext

from console.pages.confirmations import done
from console.pages.forms import Form
from console.pages.paging import paging
from console.session.current import account, require

pages = Blueprint("smpp", __name__, url_prefix="/smpp")

REPLAYED_HOURS = (1, 24, 72, 192)
"""From how long ago receipts can be delivered again."""


@pages.get("/")
def index() -> Any:
    """All credentials, with their open binds."""
    now = datetime.now(UTC)
    since = {hours: (now - timedelta(hours=hours)).isoformat() for hours in REPLAYED_HOURS}
    return render_template("smpp/index.html", page=account().smpp.page(**paging()), since=since)


@pages.route("/new", methods=["GET", "POST"])
def create() -> Any:
    """A new credential."""
    require("keys:write")
    if request.method == "GET":
        return render_template("smpp/new.html", form=Form({"system_id": "", "allowed_ips": ""}))
    form = Form.posted()
    networks = form["allowed_ips"].replace(",", " ").split()
    with form.asking():
        made = account().smpp.create({"system_id": form["system_id"].strip(), "allowed_ips": networks}, form.key)
        return render_template("smpp/password.html", made=made)
    return render_template("smpp/new.html", form=form), 400


@pages.post("/<uuid:credential_id>/rotate")
def rotate(credential_id: UUID) -> Any:
    """A new password."""
    return render_template("smpp/password.html", made=account().smpp.rotate(str(credential_id), Form.posted().key))


@pages.post("/<uuid:credential_id>/revoke")
def revoke(credential_id: UUID) -> Any:
    """Revoke a credential."""
    account().smpp.revoke(str(credential_id))
    return done(gettext("The SMPP credential is revoked."), "smpp.index")


@pages.post("/<uuid:credential_id>/replay")
def replay(credential_id: UUID) -> Any:
    """Deliver receipts and messages from phones again."""
    form = Form.posted()
    account().smpp.replay(str(credential_id), form["since"], form.key)
    return done(gettext("Receipts and messages from phones are delivered again."), "smpp.index")
