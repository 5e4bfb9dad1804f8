"""Who sends a request."""

from dataclasses import dataclass
from datetime import datetime

from shared.api_key import Network


@dataclass(frozen=True, slots=True)
class Caller:
    """Who sends a request."""

    account_id: int
    key_id: str
    test: bool
    scopes: frozenset[str]
    token_id: str
    expires_at: datetime
    networks: tuple[Network, ...] = ()
    """Where the key may be used from; empty is everywhere."""
    rate: int | None = None
    """Requests per second that the key may make, where it has a limit of its own."""
    generation: int = 0
    """Of the secret that the token was got with: how often the key had been rotated."""
