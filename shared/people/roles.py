"""Roles of people: in an account, with the scopes of their tokens, and in the installation."""

from enum import StrEnum
from typing import Final

from shared.accounts.operator_keys import OPERATOR_SCOPES
from shared.scopes import SCOPES


class Role(StrEnum):
    """What a person may do in an account."""

    OWNER = "owner"
    SENDER = "sender"
    VIEWER = "viewer"


class OperatorRole(StrEnum):
    """What a person may do in the installation."""

    ADMIN = "admin"
    SUPPORT = "support"


VIEWER_SCOPES = (
    "sms:read",
    "balance:read",
    "groups:read",
    "senders:read",
    "suppressions:read",
    "webhooks:read",
)
ROLE_SCOPES: Final[dict[str, tuple[str, ...]]] = {
    Role.OWNER: SCOPES,
    Role.SENDER: ("sms:send", *VIEWER_SCOPES, "groups:write", "suppressions:write"),
    Role.VIEWER: VIEWER_SCOPES,
}
OPERATOR_ROLE_SCOPES: Final[dict[str, tuple[str, ...]]] = {
    OperatorRole.ADMIN: tuple(OPERATOR_SCOPES),
    OperatorRole.SUPPORT: ("read", "texts"),
}
"""`texts` is only given to support with a reason."""
ROLES: Final = tuple(str(role) for role in Role)
OPERATOR_ROLES: Final = tuple(str(role) for role in OperatorRole)
