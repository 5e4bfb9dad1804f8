"""Values that a form carries are valid for a limited time."""

import time

import pytest
from flask import Flask

from console.session.encrypted_forms import seal, unseal


@pytest.mark.parametrize(("later", "is_valid"), [(0, True), (240, True), (360, False)])
def test_it_works(monkeypatch: pytest.MonkeyPatch, later: int, is_valid: bool) -> None:
    app = Flask(__name__)
    app.config["SECRET_KEY"] = "s" * 32
    with app.app_context():
        sealed = seal("sign in", {"a": 1})
        now = time.time()
        monkeypatch.setattr(time, "time", lambda: now + later)
        assert unseal("sign in", sealed, 300) == ({"a": 1} if is_valid else None)
        assert unseal("something else", sealed, 300) is None and unseal("sign in", "x", 300) is None
