"""The session cookie is valid for a month, on hosts with slightly different clocks too."""

import time

import pytest

from console.app import create_app
from console.settings import Settings

MONTH = 31 * 86_400


@pytest.mark.parametrize(
    ("after", "is_valid"), [(-3600, True), (-1, True), (0, True), (MONTH - 60, True), (MONTH + 60, False)]
)
def test_it_works(monkeypatch: pytest.MonkeyPatch, after: int, is_valid: bool) -> None:
    app = create_app(Settings(secret_key="a-secret-key-of-the-consoles-tests"))
    written = app.session_interface.get_signing_serializer(app).dumps({"name": "value"})  # type: ignore[attr-defined]
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + after)
    cookie = {"Cookie": f"{app.config['SESSION_COOKIE_NAME']}={written}"}
    with app.test_request_context(headers=cookie) as context:
        assert dict(context.session or {}) == ({"name": "value"} if is_valid else {})


@pytest.mark.parametrize("cookie", ["", "console=", "console=x.y.z"])
def test_a_cookie_of_somebody_else_is_an_empty_session(cookie: str) -> None:
    app = create_app(Settings(secret_key="a-secret-key-of-the-consoles-tests"))
    with app.test_request_context(headers={"Cookie": cookie}) as context:
        assert dict(context.session or {}) == {}
