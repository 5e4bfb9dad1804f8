"""What the victim felt, as tables in Markdown: on standard output, and in a file whose text can go into a page."""

import math
from collections.abc import Iterable
from pathlib import Path

from tests.hostile.felt import Felt, seconds_of

HEAD = (
    "Attack",
    "p50",
    "p99 (quiet)",
    "Slowest other",
    "Slowest page",
    "Refused",
    "Handed over",
    "Group sends",
    "Webhook told",
    "Memory before, at most, at the end",
    "Recovery",
)


class Tables:
    """Prints lines as they come, and writes the same to `file`, if there is one."""

    def __init__(self, file: Path | None) -> None:
        self._file = file
        if file is not None:
            file.write_text("")

    def line(self, text: str = "") -> None:
        """Add a line."""
        print(text, flush=True)
        if self._file is not None:
            with self._file.open("a") as opened:
                opened.write(text + "\n")

    def head(self, cells: Iterable[str]) -> None:
        """Begin a table."""
        cells = tuple(cells)
        self.row(cells)
        self.line("|---" * len(cells) + "|")

    def row(self, cells: Iterable[str]) -> None:
        """Add a line of the table."""
        self.line("| " + " | ".join(cells) + " |")


def cells(felt: Felt) -> list[str]:
    """A line of the table of attacks."""
    return [
        felt.scenario.title,
        f"{1000 * seconds_of(felt.during, 0.5):.0f} ms",
        f"{1000 * seconds_of(felt.during, 0.99):.0f} ms ({1000 * seconds_of(felt.quiet, 0.99):.0f})",
        f"{felt.slowest_other[0]:.1f} s",
        f"{felt.slowest_page:.1f} s",
        f"{len(felt.refused)} of {len(felt.during + felt.after):,}",
        f"{max(felt.delays, default=math.nan):.2f} s",
        f"{max(felt.group_delays, default=math.nan):.2f} s",
        f"{max(felt.webhook_delays, default=math.nan):.2f} s",
        ", ".join(str(each >> 20) for each in felt.memory) + " MB",
        f"{felt.recovery:.1f} s",
    ]
