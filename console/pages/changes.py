"""The audit log in the reader's words."""

from collections.abc import Mapping
from typing import Any

from flask_babel import lazy_gettext

from console.pages.formats import label

_ = lazy_gettext

ACTORS: dict[str, Any] = {
    "person": _("A person"),
    "key": _("An API key"),
    "operator": _("The operator"),
    "worker": _("The service"),
}
ACTIONS: dict[str, Any] = {
    "account.activated": _("Account activated"),
    "account.adjusted": _("Credits adjusted"),
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
    "carrier.changed": _("Carrier changed"),
    "carrier.paused": _("Carrier paused"),
    "carrier.reset": _("Carrier reset"),
    "carrier.resumed": _("Carrier resumed"),
    "carrier.tested": _("Carrier tested"),
    "carrier_limit.changed": _("Limit at a carrier changed"),
    "doubt.resolved": _("Message in doubt resolved"),
    "erasure.asked": _("Erasure requested"),
    "guard.released": _("Guard released"),
    "inbound.assigned": _("Number assigned"),
    "invitation.created": _("Person invited"),
    "invitation.revoked": _("Invitation withdrawn"),
    "job.retried": _("Failed job tried again"),
    "key.created": _("API key created"),
    "key.revoked": _("API key revoked"),
    "key.rotated": _("New secret for an API key"),
    "limits.changed": _("Limits changed"),
    "member.added": _("Person added"),
    "member.removed": _("Person removed"),
    "member.role_changed": _("Role changed"),
    "operator_key.created": _("Operator key created"),
    "operator_key.revoked": _("Operator key revoked"),
    "person.changed": _("Person changed"),
    "person.created": _("Person created"),
    "person.disabled": _("Person disabled"),
    "person.email_released": _("E-mail address released"),
    "person.enabled": _("Person enabled"),
    "person.identity_bound": _("Identity linked"),
    "person.identity_unbound": _("Identity unlinked"),
    "person.link_made": _("Sign-in link made"),
    "person.operator_role_set": _("Role in the installation changed"),
    "person.password_changed": _("Password changed"),
    "person.sees_texts": _("Texts and phone numbers shown"),
    "person.totp_disabled": _("Two-factor sign-in switched off"),
    "person.totp_enabled": _("Two-factor sign-in switched on"),
    "price_list.assigned": _("Price list assigned"),
    "price_list.created": _("Price list created"),
    "price_list.published": _("Prices published"),
    "price_list.uploaded": _("Prices imported"),
    "price_list.withdrawn": _("Prices withdrawn"),
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
    "smpp.changed": _("SMPP credential changed"),
    "smpp.created": _("SMPP credential created"),
    "smpp.replayed": _("Receipts delivered again"),
    "smpp.revoked": _("SMPP credential revoked"),
    "smpp.rotated": _("New password for an SMPP credential"),
    "suppression.removed": _("Opt-out removed"),
    "texts.rewritten": _("Stored texts encrypted with another key"),
    "webhook.changed": _("Webhook changed"),
    "webhook.created": _("Webhook created"),
    "webhook.deleted": _("Webhook deleted"),
    "webhook.rotated": _("New secret for a webhook"),
}


def in_words(change: Mapping[str, Any]) -> dict[str, Any]:
    """A change with its `action_in_words`, and its `actor_in_words`: a person's name, or what kind of actor it was."""
    actor = change["actor_name"] or label(ACTORS, change["actor"].partition(" ")[0])
    return {**change, "action_in_words": label(ACTIONS, change["action"]), "actor_in_words": actor}
