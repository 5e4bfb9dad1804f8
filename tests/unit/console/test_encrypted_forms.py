"""Values that a form carries are valid for a limited time, whichever console sealed them."""

import time
from types import SimpleNamespace

import pytest
from flask import Flask

from console.session import encrypted_forms
from console.session.encrypted_forms import SECONDS, seal, unseal


@pytest.mark.parametrize(
    ("later", "is_valid"), [(-3_600, True), (-90, True), (0, True), (SECONDS - 60, True), (SECONDS + 60, False)]
)
def test_consoles_whose_clocks_differ(monkeypatch: pytest.MonkeyPatch, later: int, is_valid: bool) -> None:
    app = Flask(__name__)
    app.config["SECRET_KEY"] = "s" * 32
    with app.app_context():
        sealed = seal("sign in", {"a": 1})
        now = time.time()
        monkeypatch.setattr(encrypted_forms, "time", SimpleNamespace(time=lambda: now + later))
        assert unseal("sign in", sealed) == ({"a": 1} if is_valid else None)
