"""Conflicts and errors of messages are described in the reader's language."""

import ast
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from flask import Flask
from flask_babel import Babel, force_locale

from console.pages.message_errors import explained
from console.pages.sentences import SENTENCES, in_readers_words
from shared.carriers.error_catalogue import CATALOGUE
from tests.unit.project.test_guards import ROOT

RESOURCES = Path(ROOT) / "api" / "resources"


@contextmanager
def in_german() -> Iterator[None]:
    app = Flask("console")
    app.config["BABEL_TRANSLATION_DIRECTORIES"] = str(Path(ROOT) / "console" / "translations")
    Babel(app)
    with app.test_request_context(), force_locale("de"):
        yield


def conflicts_of_the_api() -> list[str]:
    """The details of conflicts that people can meet, as far as they stand in the code as they are."""
    found = []
    for path in RESOURCES.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "Problem" and len(node.args) == 2:
                code, detail = node.args
                if ast.unparse(code) == "'state_conflict'" and isinstance(detail, ast.Constant):
                    found.append(str(detail.value))
    return found


def test_every_error_of_a_message_is_explained_in_the_readers_language() -> None:
    with in_german():
        assert all(explained(code).meaning != error.meaning for code, error in CATALOGUE.items())
        assert explained("not_mobile").title == "Kein Mobiltelefon" and explained("sent").title == "Gesendet"


def test_every_conflict_of_the_api_is_known() -> None:
    details = conflicts_of_the_api()
    assert len(details) > 5
    for detail in details:
        assert any(re.fullmatch(pattern, detail) for pattern in SENTENCES), detail


def test_a_conflict_is_described_in_the_readers_language() -> None:
    with in_german():
        assert in_readers_words("The send is completed and cannot be paused.") == (
            "Der Versand lässt sich nicht anhalten. Sein Zustand: Abgeschlossen."
        )
        assert in_readers_words("The account is closed.") == "Das Konto ist endgültig geschlossen."
        assert (
            in_readers_words("The account is closed, which cannot be undone.") == "Das Konto ist endgültig geschlossen."
        )
        assert in_readers_words(
            "The secret before the last one still works until 2026-11-29T15:27:58Z; a new one"
        ).startswith("Das vorletzte Geheimnis gilt noch")
        assert in_readers_words("Something that is not known here.") == "Something that is not known here."
