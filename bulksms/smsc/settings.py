"""Settings of a simulated SMSC."""

from dataclasses import dataclass
from typing import Literal

AnswerIds = Literal["same", "none", "decimal", "upper", "plain"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SmscSettings:
    """The behavior of the SMSC. By default it makes no errors. Times are in seconds."""

    host: str = "127.0.0.1"
    port: int = 2775
    """0 chooses a free port."""
    system_id: str | None = None
    """The only system_id that may bind; None allows all."""
    password: str | None = None
    receipts: bool = True
    """Whether submits that ask for a receipt get one."""
    receipt_delay: float = 1.0
    receipt_window: int = 1_000
    """Maximum of unanswered deliver_sm PDUs per connection."""
    rate: float = 0.0
    """Submits per second; more are answered with ESME_RTHROTTLED. 0 is unlimited."""
    round_trip: float = 0.0
    """Delay of all PDUs to the client."""
    slow_time: float = 1.0
    """Delay of the response to phones that begin with 99904."""
    lose: float = 0.0
    """Share of submits that are accepted but not answered."""
    drop_after: int = 0
    """The connection breaks at every Nth submit, without responses to the last ones. 0: never."""
    garbage_after: int = 0
    """A malformed PDU is sent after every Nth submit. 0: never."""
    answer_ids: AnswerIds = "same"
    """Format of message ids in responses. Receipts always have ten hexadecimal digits."""
    seed: int = 0
    """Seed of random decisions."""


def format_id(identity: str, how: AnswerIds) -> str:
    """The id as in a response: as in receipts, empty, decimal, in capitals, or without leading zeros."""
    match how:
        case "none":
            return ""
        case "decimal":
            return str(int(identity, 16))
        case "upper":
            return identity.upper()
        case "plain":
            return identity.lstrip("0")
        case _:
            return identity
