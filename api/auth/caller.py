"""The authenticated sender of a request."""

from dataclasses import dataclass
from datetime import datetime

from shared.api_key import Network


@dataclass(frozen=True, slots=True)
class Caller:
    """The account, API key and token behind a request."""

    account_id: int
    key_id: str
    test: bool
    owner_id: int
    """The account; for a test key, the live account that the sandbox belongs to."""
    scopes: frozenset[str]
    token_id: str
    expires_at: datetime
    networks: tuple[Network, ...] = ()
    """Networks that the key may be used from; empty means anywhere."""
    rate: int | None = None
    """The key's own limit in requests per second, if it has one."""
    generation: int = 0
    """Number of rotations of the key when the token was issued."""

    @property
    def payer(self) -> int:
        """Whose requests are counted together."""
        return self.account_id

    @property
    def made_by(self) -> str:
        """Who may get the stored response to a request again."""
        return self.key_id
