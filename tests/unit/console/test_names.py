"""The console has a word for whatever the API names, and offers what the API takes."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

from api.resources.sends.bottleneck import REASONS
from console.pages import formats
from console.pages.changes import ACTIONS
from console.views import api_keys
from shared.lifecycle import LANES, MessageStatus, SendState
from shared.scopes import DEFAULT_SCOPES, SCOPES
from shared.senders.sender_ids import Decision


def test_every_scope_has_a_text() -> None:
    assert set(formats.SCOPES) == set(SCOPES)
    assert set(api_keys.USUAL) <= set(DEFAULT_SCOPES)


def test_every_state_has_a_word() -> None:
    assert {*map(str, SendState), *map(str, MessageStatus)} <= set(formats.STATUSES)


def test_every_category_and_limit_has_a_word() -> None:
    assert set(formats.CATEGORIES) == set(map(str, LANES))
    assert set(REASONS) <= set(formats.LIMITED_BY)


DOTTED = re.compile(r"[a-z_]+\.[a-z_]+")
LOG = "shared.accounts.audit_log"


def recorded(tree: ast.Module) -> Iterator[str]:
    """The kinds of changes that a module records: where a call does not name one, all that the module names."""
    kinds = [
        call.args[2]
        for call in ast.walk(tree)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in ("record", "record_each")
    ]
    yield from (kind.value for kind in kinds if isinstance(kind, ast.Constant) and isinstance(kind.value, str))
    if any(isinstance(kind, ast.Name) for kind in kinds):
        texts = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
        yield from (text for text in texts if isinstance(text, str) and DOTTED.fullmatch(text))


def test_every_change_that_is_recorded_has_words() -> None:
    trees = [
        ast.parse(path.read_text())
        for folder in ("api", "bulksms", "shared", "worker")
        for path in Path(folder).rglob("*.py")
        if f"{LOG} import" in path.read_text()
    ]
    found = {kind for tree in trees for kind in recorded(tree)}
    assert len(found) > 40
    by_state = {"account.suspended", *(f"sender.{decision}" for decision in get_args(Decision))}
    assert found | by_state <= set(ACTIONS)
