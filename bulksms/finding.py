"""What `bulksms doctor` says of one thing that it looked at."""

from dataclasses import dataclass
from typing import Literal

Outcome = Literal["ok", "notice", "wrong"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at. `remedy` says what to do unless it is ok."""

    name: str
    outcome: Outcome
    detail: str
    remedy: str = ""
