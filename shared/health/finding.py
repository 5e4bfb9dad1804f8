"""The installation that `bulksms doctor` checks, and the result of one check."""

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from shared.settings import Settings

Outcome = Literal["ok", "notice", "wrong"]


class Installation(NamedTuple):
    """An installation's settings, their source, and its data folder if it was started in this folder."""

    settings: Settings
    source: str
    data: Path | None


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check. `remedy` says what to do unless the outcome is ok."""

    name: str
    outcome: Outcome
    detail: str
    remedy: str = ""


def first_line(error: object) -> str:
    """The first line of the message of an error, or of that of the driver which it is about."""
    return (str(getattr(error, "orig", error)).strip().splitlines() or ["no answer"])[0]


def hint(*arguments: object) -> str:
    """A `bulksms` command to paste into a shell, with its arguments quoted."""
    return shlex.join(["bulksms", *map(str, arguments)])
