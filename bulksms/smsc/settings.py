"""How a simulated SMSC behaves."""

from dataclasses import dataclass
from typing import Literal

AnswerIds = Literal["same", "none", "decimal", "upper", "plain"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SmscSettings:
    """All of it; the defaults are a carrier without fault. Times are in seconds."""

    host: str = "127.0.0.1"
    port: int = 2775
    """0 takes a free one."""
    system_id: str | None = None
    """Whom to let in; None lets everybody in."""
    password: str | None = None
    receipts: bool = True
    """Whether those who ask for a receipt get one."""
    receipt_delay: float = 1.0
    receipt_window: int = 1_000
    """deliver_sm's that may be unanswered on one connection."""
    rate: float = 0.0
    """Submits per second; those beyond get ESME_RTHROTTLED. 0 is unlimited."""
    round_trip: float = 0.0
    """Until answers are sent."""
    slow_time: float = 1.0
    """Until a phone that begins with 99904 is answered."""
    lose: float = 0.0
    """Share of submits that are taken and not answered."""
    drop_after: int = 0
    """Submits after which the connection breaks, again and again; what came with them has no answer. 0 never."""
    garbage_after: int = 0
    """Submits after which something is sent that a client must survive, again and again. 0 never."""
    answer_ids: AnswerIds = "same"
    """How the id in an answer is written; in receipts it is always ten hexadecimal digits."""
    seed: int = 0
    """Of what is left to chance."""


def spelled(identity: str, how: AnswerIds) -> str:
    """The id as an answer has it: as in receipts, not at all, in decimal, in capitals, without leading zeros."""
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
