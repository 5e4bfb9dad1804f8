"""The fields that all responses with a token have."""

from typing import Any

from api.auth.operator_tokens import Operator
from api.auth.tokens import Caller


def token_fields(token: str, holder: Caller | Operator, valid_for: int) -> dict[str, Any]:
    """The token of an account or an operator, which expires in `valid_for` seconds."""
    return {
        "access_token": token,
        "token_type": "Bearer",
        "expires_in": valid_for,
        "expires_at": holder.expires_at,
        "scope": " ".join(sorted(holder.scopes)),
    }
