"""What is written of a send: no column of it is forgotten."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy.dialects.postgresql import dialect

from api.commit.commit import ACCEPT, ACCEPT_PLAIN, ALL_COLUMNS, REQUIRED_COLUMNS, _send_row
from api.commit.draft import Draft
from shared.db.tables.sends import send
from shared.ids import new_id
from shared.lifecycle import Category
from shared.sms.segments import segment

NOW = datetime.now(UTC)
OPTIONAL_COLUMNS: list[dict[str, Any]] = [
    {"reference": "A-1"},
    {"metadata": {}},
    {"rate": 1},
    {"callback_url": "https://example.org"},
    {"rules": {"quiet": ["22:00", "06:00"]}},
    {"send_at": NOW},
    {"on_unicode": "send"},
    {"kind": "bulk", "submitted": 2, "rejected": [{"index": 1, "code": "duplicate"}]},
    {"kind": "group", "group_id": new_id(), "group_bound": 7, "submitted": 7, "on_unicode": "send", "incomplete": 2},
]


def draft(**options: Any) -> Draft:
    made: dict[str, Any] = {
        "account_id": 1,
        "api_key_id": "k",
        "test": False,
        "kind": "single",
        "sender_id": "ACME",
        "message": "Hi",
        "segmentation": segment("Hi"),
        "category": Category.TRANSACTIONAL,
        "created_at": NOW,
        "expires_at": NOW + timedelta(hours=1),
        "phones": ["254711000000"],
    }
    return Draft(**made | options)


@pytest.mark.parametrize("options", OPTIONAL_COLUMNS)
def test_a_send_with_options_has_theirs_too(options: dict[str, Any]) -> None:
    row = _send_row(draft(**options))
    assert len(row) > len(REQUIRED_COLUMNS)
    assert set(REQUIRED_COLUMNS) < set(row) <= set(ALL_COLUMNS)
    assert {name: row[name] for name in options if name in ALL_COLUMNS} == {
        name: value for name, value in options.items() if name in ALL_COLUMNS
    }


def test_each_column_is_written_with_the_type_that_it_has() -> None:
    types = dialect().type_compiler_instance  # type: ignore[no-untyped-call]
    for name, kind in ALL_COLUMNS.items():
        written = kind.upper().replace("TIMESTAMPTZ", "TIMESTAMP WITH TIME ZONE")
        assert written == types.process(send.c[name].type).upper(), name
        assert f"{name} {kind}" in ACCEPT.partition(" AS s (")[2].partition("\n")[0]
    assert "metadata" not in ACCEPT_PLAIN.partition("RETURNING")[0]
