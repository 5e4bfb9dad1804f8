"""The tables of docs/reference/what-we-read.md, which are the tables of the tests too."""

from pathlib import Path
from typing import Final

PAGE: Final = Path(__file__).parents[2] / "docs" / "reference" / "what-we-read.md"


def table(caption: str) -> list[dict[str, str]]:
    """The rows of the table under a heading of any level: cells by the name of their column, without backticks.

    A backtick in a cell's code is not possible; `\\|` is a pipe, and `\\xNN`, `\\uNNNN` and `\\n` in code are that
    character.
    """
    rows: list[list[str]] = []
    found = False
    for line in PAGE.read_text().splitlines():
        if line.startswith("#"):
            if found:
                break
            found = line.lstrip("#").strip() == caption
        elif found and line.startswith("|"):
            rows.append([_cell(cell) for cell in line.replace(r"\|", "\0").strip().strip("|").split("|")])
    if len(rows) < 3:
        raise LookupError(f"{PAGE.name} has no table under {caption!r}")
    return [dict(zip(rows[0], row, strict=True)) for row in rows[2:]]


def _cell(text: str) -> str:
    text = text.strip().replace("\0", "|")
    if not (len(text) >= 2 and text[0] == text[-1] == "`"):
        return text
    code = text[1:-1]
    return code.encode("latin-1", "backslashreplace").decode("unicode_escape") if "\\" in code else code
