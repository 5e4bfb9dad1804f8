"""What an API key, or a person's token for an account, can be allowed to do."""

SCOPES = (
    "sms:send",
    "sms:read",
    "balance:read",
    "groups:read",
    "groups:write",
    "keys:read",
    "keys:write",
    "senders:read",
    "senders:write",
    "suppressions:read",
    "suppressions:write",
    "webhooks:read",
    "webhooks:write",
    "privacy:write",
    "people:read",
    "people:write",
)
DEFAULT_SCOPES = (
    "sms:send",
    "sms:read",
    "balance:read",
    "groups:read",
    "keys:read",
    "senders:read",
    "suppressions:read",
    "webhooks:read",
)
"""Of a new API key: sending and reading, but not who is in the account and what they changed."""
