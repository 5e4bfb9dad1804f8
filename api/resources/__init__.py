"""One module a resource. Importing them declares their endpoints."""

from api.resources import auth, balance, contacts, errors, groups, inbound, limits, messages, sends, sms

__all__ = ["auth", "balance", "contacts", "errors", "groups", "inbound", "limits", "messages", "sends", "sms"]
