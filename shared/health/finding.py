"""The result of one check of `bulksms doctor`."""

import shlex
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


def first_line(error: object) -> str:
    """The first line of an error's message."""
    return (str(error).strip().splitlines() or ["no answer"])[0]


def hint(*arguments: object) -> str:
    """A `bulksms` command to paste into a shell, with its arguments quoted."""
    return shlex.join(["bulksms", *map(str, arguments)])
