"""The result of one check of `bulksms doctor`."""

from dataclasses import dataclass
from typing import Literal

Outcome = Literal["ok", "notice", "wrong"]


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check. `remedy` says what to do unless the outcome is ok."""

    name: str
    outcome: Outcome
    detail: str
    remedy: str = ""
