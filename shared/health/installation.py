"""The installation that is checked."""

from pathlib import Path
from typing import NamedTuple

from shared.settings import Settings


class Installation(NamedTuple):
    """An installation's settings, their source, and its data folder if it was started in this folder."""

    settings: Settings
    source: str
    data: Path | None
