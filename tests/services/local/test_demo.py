"""The demo account of `bulksms up`, and what the banner says of it."""

from pathlib import Path

import pytest
from sqlalchemy import Engine

from bulksms.local import demo
from bulksms.local.banner import banner
from bulksms.local.redis import RedisServer
from shared.accounts.administration import find_account, suspend_account
from shared.accounts.close_account import close_account
from tests.harness.service import SECRET_KEY


def test_a_demo_that_cannot_send_says_why(
    engine: Engine, redis_server: RedisServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DATABASE_URL", engine.url.render_as_string(hide_password=False))
    monkeypatch.setenv("REDIS_URL", redis_server.url)
    monkeypatch.setenv("SECRET_KEY", SECRET_KEY)
    first = demo.ensure_demo("http://127.0.0.1:8000")
    secrets = [first[name] for name in ("api_key", "api_secret", "test_api_key", "test_api_secret")]
    with engine.begin() as connection:
        suspend_account(connection, account := find_account(connection, demo.ACCOUNT))
    suspended = demo.ensure_demo("http://127.0.0.1:8000")
    assert suspended["api_key"] == first["api_key"], "it works again once the account is activated"
    printed = banner(suspended, tmp_path)
    assert "demo cannot send, because it is suspended. Activate it with `bulksms account activate demo`." in printed
    assert suspended["sign_in_url"] in printed
    assert not any(text in printed for text in (*secrets, "Paste"))
    with engine.begin() as connection:
        close_account(connection, account, "tried it")
    for _ in range(2):
        closed = demo.ensure_demo("http://127.0.0.1:8000")
        assert closed["api_key"] == closed["api_secret"] == closed["test_api_key"] == closed["test_api_secret"] == ""
        printed = banner(closed, tmp_path)
        assert "demo cannot send, because it is closed. Make another account with `bulksms account create" in printed
        assert "Paste" not in printed and closed["sign_in_url"] in printed
