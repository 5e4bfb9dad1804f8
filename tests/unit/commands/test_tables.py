"""What the command line prints at 80 columns: nothing is wider, and what is copied is in one piece."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from bulksms import output
from bulksms.output import show_lines, show_one, show_rows

ID = UUID("01a205a9-d4ca-730b-8fcc-2479c6a3ae61")
OTHER = UUID("01a205a9-d4ca-73a3-b966-abaff2ce0001")
KEY = "smsk_live_zWGwoBDZn1dG"
AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
NARROW = {"id": ID, "account": "acme", "state": "queued"}
TEXT = {"id": ID, "detail": "A sentence of many words that is longer than what is left of the line beside the id."}
SEND = NARROW | dict.fromkeys(("accepted", "waiting", "in_doubt", "sent", "delivered", "not_sent"), 180_000)
WIDE = SEND | {"held_reason": None, "created_at": AT, "api_key_id": KEY, "group_id": OTHER}


@pytest.fixture(autouse=True)
def columns(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal of 80 columns."""
    monkeypatch.setattr(output, "PIPED_WIDTH", 80)


def chunks(row: dict[str, Any]) -> list[str]:
    """What somebody may want to copy."""
    return [str(value) for value in row.values() if isinstance(value, UUID) or str(value).startswith("smsk_")]


@pytest.mark.parametrize("row", [NARROW, TEXT, SEND, WIDE], ids=["narrow", "text", "send", "wide"])
def test_it_works(row: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    show_rows([row, row | {"id": OTHER}], False, "Rows", "There are none.")
    shown = capsys.readouterr().out
    assert all(len(line) <= 80 for line in shown.splitlines()), shown
    for chunk in [*chunks(row), str(OTHER)]:
        assert chunk in shown
    assert "Rows" in shown
    assert ("2026-01-02 03:04:05Z" in shown) == ("created_at" in row)


def test_no_name_of_a_column_is_cut(capsys: pytest.CaptureFixture[str]) -> None:
    names = ["allowed_rate", "response_p50_ms", "response_p99_ms", "receipt_p50_seconds", "receipt_p99_seconds"]
    show_rows([{"carrier": "main", **dict.fromkeys(names, 1)}], False, "Carriers", "There are none.")
    shown = capsys.readouterr().out
    assert "…" not in shown
    assert [shown.count(word) for word in ("allowed", "response", "receipt", "p50", "seconds")] == [1, 2, 2, 2, 2]
    assert "─" * 80 not in shown, "it fits as a table"


MARKUP = ["[red]", "a\\[b]", r"C:\[x]", "ends with \\", ":warning:", "[/]"]


def test_a_text_that_looks_like_markup_is_shown_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    row = {"name": MARKUP[0], "tags": MARKUP}
    show_rows([row], False, "Keys of [bold]", "There are none.")
    show_one(row, False)
    show_lines([row], "There are none.")
    shown = capsys.readouterr().out
    assert shown.count(", ".join(MARKUP)) == 3
    assert "Keys of [bold]" in shown
