"""The log of changes: who has changed what."""

from typing import Any

from flask import Blueprint, render_template
from flask_babel import lazy_gettext

from console.pages.formats import label
from console.pages.paging import paging
from console.session.current import account

_ = lazy_gettext

pages = Blueprint("changes", __name__, url_prefix="/changes")

ACTORS: dict[str, Any] = {
    "person": _("A person"),
    "key": _("An API key"),
    "operator": _("The operator"),
    "worker": _("The service"),
}
KINDS: dict[str, Any] = {
    "account.activated": _("Account activated"),
    "account.authentication_set": _("Authentication messages allowed or refused"),
    "account.changed": _("Account changed"),
    "account.closed": _("Account closed"),
    "account.country_set": _("Country changed"),
    "account.created": _("Account created"),
    "account.frozen": _("Account frozen"),
    "account.refunded": _("Credits refunded"),
    "account.retention_set": _("Retention changed"),
    "account.suspended": _("Account suspended"),
    "account.top_up_reversed": _("Top-up reversed"),
    "account.topped_up": _("Credits added"),
    "doubt.resolved": _("Message in doubt resolved"),
    "erasure.asked": _("Erasure requested"),
    "inbound.assigned": _("Number assigned"),
    "invitation.created": _("Person invited"),
    "invitation.revoked": _("Invitation withdrawn"),
    "key.created": _("API key created"),
    "key.revoked": _("API key revoked"),
    "key.rotated": _("New secret for an API key"),
    "limits.changed": _("Limits changed"),
    "member.added": _("Person added"),
    "member.removed": _("Person removed"),
    "member.role_changed": _("Role changed"),
    "rules.changed": _("Rules changed"),
    "sandbox.created": _("Test mode set up"),
    "send.canceled": _("Send canceled"),
    "send.held": _("Send held"),
    "send.released": _("Send released"),
    "sender.approved": _("Sender ID approved"),
    "sender.authentication_set": _("Authentication messages of a sender ID allowed or refused"),
    "sender.rejected": _("Sender ID rejected"),
    "sender.removed": _("Sender ID removed"),
    "sender.requested": _("Sender ID requested"),
    "sender.suspended": _("Sender ID suspended"),
    "webhook.changed": _("Webhook changed"),
    "webhook.created": _("Webhook created"),
    "webhook.deleted": _("Webhook deleted"),
    "webhook.rotated": _("New secret for a webhook"),
}


@pages.get("/")
def index() -> Any:
    """All changes, newest first."""
    page = account().people.changes(**paging())
    rows = [
        {
            **change,
            "kind": label(KINDS, change["action"]),
            "who": change["actor_name"] or label(ACTORS, change["actor"].partition(" ")[0]),
        }
        for change in page["data"]
    ]
    return render_template("changes/index.html", page=page, rows=rows)
