"""The menus: of an account's pages, and of the operator's."""

from collections.abc import Callable
from typing import Any, NamedTuple

from flask import request
from flask_babel import lazy_gettext

from console.session.current import may
from console.session.operator import operator_may

_ = lazy_gettext


class Entry(NamedTuple):
    """A page of the menu."""

    endpoint: str
    title: Any
    icon: str
    scope: str
    """Without it, the page would be refused."""


Menu = tuple[tuple[Any, tuple[Entry, ...]], ...]

MENU: Menu = (
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
            Entry("verifications.index", _("One-time passwords"), "shield", "sms:read"),
            Entry("ledger.index", _("Credits"), "coins", "balance:read"),
            Entry("prices.index", _("Prices"), "coins", "balance:read"),
            Entry("sender_ids.index", _("Sender IDs"), "badge", "senders:read"),
            Entry("people.index", _("People"), "person", "people:read"),
            Entry("api_keys.index", _("API keys"), "key", "keys:read"),
            Entry("smpp.index", _("SMPP"), "key", "keys:read"),
            Entry("webhooks.index", _("Webhooks"), "hook", "webhooks:read"),
            Entry("changes.index", _("Audit log"), "clock", "people:read"),
        ),
    ),
)


OPERATOR_MENU: Menu = (
    (
        _("Customers"),
        (
            Entry("operator.accounts.index", _("Accounts"), "people", "read"),
            Entry("operator.messages.index", _("Messages"), "list", "read"),
            Entry("operator.prices.index", _("Prices"), "coins", "read"),
            Entry("operator.sender_ids.index", _("Sender IDs"), "badge", "read"),
            Entry("operator.doubts.index", _("In doubt"), "stop", "read"),
            Entry("operator.inbound.index", _("Inbound messages"), "chat", "read"),
        ),
    ),
    (
        _("Operation"),
        (
            Entry("operator.carriers.index", _("Carriers"), "send", "read"),
            Entry("operator.queue.index", _("Queue"), "list", "read"),
            Entry("operator.margin.index", _("Margin"), "coins", "read"),
            Entry("operator.installation.index", _("Health"), "shield", "read"),
            Entry("operator.changes.index", _("Audit log"), "clock", "read"),
        ),
    ),
)


Groups = list[tuple[Any, list[tuple[Entry, bool]]]]


def navigation() -> Groups:
    """The menu of an account."""
    return _of(MENU, may)


def operator_navigation() -> Groups:
    """The menu of an operator."""
    return _of(OPERATOR_MENU, operator_may)


def _of(menu: Menu, allowed: Callable[[str], bool]) -> Groups:
    """The groups of the menu with the pages that the person may see, each with whether it is the one shown."""
    shown = _theme(request.endpoint or "")
    groups = []
    for title, entries in menu:
        links = [(each, _theme(each.endpoint) == shown) for each in entries if allowed(each.scope)]
        if links:
            groups.append((title, links))
    return groups


def _theme(endpoint: str) -> str:
    return endpoint.rpartition(".")[0]
