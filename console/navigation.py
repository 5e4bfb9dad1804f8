"""The menu of an account's pages."""

from typing import Any, NamedTuple

from flask import request
from flask_babel import lazy_gettext

from console.current import may

_ = lazy_gettext


class Entry(NamedTuple):
    """A page of the menu."""

    endpoint: str
    title: Any
    icon: str
    scope: str
    """Without it, the page would be refused."""


MENU: tuple[tuple[Any, tuple[Entry, ...]], ...] = (
    (
        "",
        (
            Entry("overview.show", _("Overview"), "home", "sms:read"),
            Entry("compose.write", _("New message"), "pen", "sms:send"),
            Entry("sends.index", _("Sends"), "send", "sms:read"),
            Entry("messages.index", _("Messages"), "list", "sms:read"),
            Entry("conversations.index", _("Conversations"), "chat", "sms:read"),
        ),
    ),
    (
        _("Recipients"),
        (
            Entry("groups.index", _("Groups"), "people", "groups:read"),
            Entry("opt_outs.index", _("Opt-outs"), "stop", "suppressions:read"),
        ),
    ),
    (
        _("Account"),
        (
            Entry("usage.show", _("Usage"), "chart", "sms:read"),
            Entry("ledger.index", _("Credits"), "coins", "balance:read"),
            Entry("sender_ids.index", _("Sender IDs"), "badge", "senders:read"),
            Entry("people.index", _("People"), "person", "people:read"),
            Entry("api_keys.index", _("API keys"), "key", "keys:read"),
            Entry("webhooks.index", _("Webhooks"), "hook", "webhooks:read"),
            Entry("changes.index", _("Changes"), "clock", "people:read"),
        ),
    ),
)


def navigation() -> list[tuple[Any, list[tuple[Entry, bool]]]]:
    """The groups of the menu with the pages that the person may see, each with whether it is the one shown."""
    shown = (request.endpoint or "").partition(".")[0]
    groups = []
    for title, entries in MENU:
        allowed = [(each, each.endpoint.partition(".")[0] == shown) for each in entries if may(each.scope)]
        if allowed:
            groups.append((title, allowed))
    return groups
