"""The authenticated sender of a request."""

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from shared.api_key import Network


class Membership(NamedTuple):
    """The membership, and the session, by which a person has a token."""

    account_id: int
    version: int
    session_id: str


@dataclass(frozen=True, slots=True)
class Caller:
    """The account, API key or person, and token behind a request."""

    account_id: int
    """For a test key, the sandbox: it shares no limit with its live account."""
    key_id: str
    """The API key; for a person's token `person <uuid>`."""
    test: bool
    scopes: frozenset[str]
    token_id: str
    expires_at: datetime
    networks: tuple[Network, ...] = ()
    """Networks that the key may be used from; empty means anywhere."""
    rate: int | None = None
    """The key's own limit in requests per second, if it has one."""
    generation: int = 0
    """Number of rotations of the key when the token was issued."""
    membership: Membership | None = None
    """By what a person has the token; None for an API key."""

    @property
    def actor(self) -> str:
        """As the audit log names the caller: `key smsk_…` or `person <uuid>`."""
        return f"key {self.key_id}" if self.membership is None else self.key_id

    @property
    def made_by(self) -> str:
        """Who may get the stored response to a request again."""
        return self.key_id
