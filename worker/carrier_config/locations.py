"""Locates settings in CARRIERS_FILE, for error messages."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

HEADER = re.compile(r"\s*\[\[?\s*([A-Za-z0-9_.\"'-]+)\s*\]")
SETTING = re.compile(r"\s*([A-Za-z0-9_-]+)(?:\.[A-Za-z0-9_-]+)?\s*=")


@dataclass(frozen=True, slots=True)
class Locations:
    """A file's source. Lines are numbered from 1."""

    path: Path
    source: str

    def of_table(self, header: str) -> str:
        """`FILE, line N` of a table, or of a top-level key."""
        return self._describe(next((number for number, table, _ in self._lines() if table == header), None))

    def of_setting(self, header: str, error: str) -> str:
        """`FILE, line N` of the table's setting that the error names, or else of the table."""
        for number, table, key in self._lines():
            if (
                key
                and (table == header or table.startswith(f"{header}."))
                and re.search(rf"\b{re.escape(key)}\b", error)
            ):
                return self._describe(number)
        return self.of_table(header)

    def of_entry(self, header: str, number: int, key: str | None) -> str:
        """`FILE, line N` of the `[[header]]` with that number, from 1, or of its setting `key`."""
        location, seen = None, 0
        for line, table, name in self._lines():
            seen += table == header and name is None
            if seen == number and (name is None or name == key) and table == header:
                location = line
        return self._describe(location)

    def _lines(self) -> Iterator[tuple[int, str, str | None]]:
        """Number, table and key of each line with a header or a setting."""
        table = ""
        for number, line in enumerate(self.source.splitlines(), 1):
            if match := HEADER.match(line):
                table = match[1].replace('"', "").replace("'", "")
                yield number, table, None
            elif match := SETTING.match(line):
                yield number, table or match[1], match[1]

    def _describe(self, number: int | None) -> str:
        return f"{self.path}, line {number}" if number else str(self.path)
