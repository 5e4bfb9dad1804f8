"""One module a resource. Importing them declares their endpoints."""

from api.resources import (
    api_keys,
    auth,
    balance,
    contacts,
    errors,
    groups,
    inbound,
    limits,
    messages,
    sender_ids,
    sends,
    sms,
    suppressions,
    usage,
)

__all__ = [
    "api_keys",
    "auth",
    "balance",
    "contacts",
    "errors",
    "groups",
    "inbound",
    "limits",
    "messages",
    "sender_ids",
    "sends",
    "sms",
    "suppressions",
    "usage",
]
