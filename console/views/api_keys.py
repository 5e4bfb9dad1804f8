"""API keys. A secret is shown once, in the response to the form that created it."""

from typing import Any

from flask import Blueprint, render_template, request
from flask_babel import gettext

from console.pages.confirmations import done
from console.pages.formats import SCOPES
from console.pages.forms import Form
from console.pages.paging import paging
from console.session.current import account, may, require

pages = Blueprint("api_keys", __name__, url_prefix="/api-keys")

USUAL = ("sms:send", "sms:read", "balance:read", "groups:read", "senders:read", "suppressions:read", "webhooks:read")
OVERLAP_SECONDS = 24 * 3600
"""How long the old secret works after a new one was made."""


@pages.get("/")
def index() -> Any:
    """All keys."""
    return render_template("api_keys/index.html", page=account().api_keys.page(**paging()))


@pages.route("/new", methods=["GET", "POST"])
def create() -> Any:
    """A new key."""
    require("keys:write")
    if request.method == "GET":
        form = Form({"name": "", "allowed_ips": ""})
        form.values.setlist("scopes", list(USUAL))
        return render_template("api_keys/new.html", form=form, scopes=_scopes())
    form = Form.posted({"scopes": "scopes"})
    body: dict[str, Any] = {"scopes": form.many("scopes")}
    if form.text("name"):
        body["name"] = form.text("name")
    if form.text("allowed_ips"):
        body["allowed_ips"] = form["allowed_ips"].replace(",", " ").split()
    with form.asking():
        made = account().api_keys.create(body, form.key)
        return render_template(
            "api_keys/secret.html", key=made["api_key"], secret=made.get("api_secret"), name=made["name"]
        )
    return render_template("api_keys/new.html", form=form, scopes=_scopes()), 400


@pages.post("/<key_id>/rotate")
def rotate(key_id: str) -> Any:
    """A new secret; the old one works for another day."""
    made = account().api_keys.rotate(key_id, OVERLAP_SECONDS, Form.posted().key)
    return render_template(
        "api_keys/secret.html", key=made["api_key"], secret=made.get("api_secret"), until=made["old_secret_expires_at"]
    )


@pages.post("/<key_id>/revoke")
def revoke(key_id: str) -> Any:
    """Revoke a key."""
    account().api_keys.revoke(key_id)
    return done(gettext("The key is revoked."), "api_keys.index")


def _scopes() -> list[str]:
    """What the person may let a key do: at most what they may do themselves."""
    return [scope for scope in SCOPES if may(scope)]
