"""The pages, a module for each theme."""

from flask import Blueprint

from console.views import (
    accounts,
    api_keys,
    changes,
    compose,
    conversations,
    groups,
    ledger,
    me,
    messages,
    oidc,
    operator,
    opt_outs,
    overview,
    people,
    prices,
    sender_ids,
    sends,
    sign_in,
    smpp,
    usage,
    verifications,
    webhooks,
)

PAGES: tuple[Blueprint, ...] = (accounts.pages, me.pages, oidc.pages, operator.pages, sign_in.pages)
"""Pages of a person, of the operator, and those that need nobody signed in."""
ACCOUNT_PAGES: tuple[Blueprint, ...] = (
    api_keys.pages,
    changes.pages,
    compose.pages,
    conversations.pages,
    groups.pages,
    ledger.pages,
    messages.pages,
    opt_outs.pages,
    overview.pages,
    people.pages,
    prices.pages,
    sender_ids.pages,
    sends.pages,
    smpp.pages,
    usage.pages,
    verifications.pages,
    webhooks.pages,
)
"""Pages of an account: their paths begin with /accounts/<account_id>/<world>."""
