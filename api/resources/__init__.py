"""One module a resource. Importing them declares their endpoints."""

from api.accept import routes as sms
from api.resources.api_keys import routes as api_keys
from api.resources.auth import routes as auth
from api.resources.balance import routes as balance
from api.resources.contacts import routes as contacts
from api.resources.deliveries import routes as deliveries
from api.resources.errors import routes as errors
from api.resources.events import routes as events
from api.resources.groups import routes as groups
from api.resources.imports import routes as imports
from api.resources.inbound import routes as inbound
from api.resources.limits import routes as limits
from api.resources.messages import routes as messages
from api.resources.privacy import routes as privacy
from api.resources.sandbox import routes as sandbox
from api.resources.sender_ids import routes as sender_ids
from api.resources.sends import routes as sends
from api.resources.suppressions import routes as suppressions
from api.resources.usage import routes as usage
from api.resources.webhooks import routes as webhooks

__all__ = [
    "api_keys",
    "auth",
    "balance",
    "contacts",
    "deliveries",
    "errors",
    "events",
    "groups",
    "imports",
    "inbound",
    "limits",
    "messages",
    "privacy",
    "sandbox",
    "sender_ids",
    "sends",
    "sms",
    "suppressions",
    "usage",
    "webhooks",
]
