"""When the console asks the API for another token."""

from collections.abc import Iterator
from typing import Any

import pytest
from flask import Flask, session

from console.session import current
from console.session.current import SESSION_TOKEN, Api, KeptTokens


@pytest.fixture(name="lasting")
def _lasting(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """How many seconds the next tokens last; a request of somebody who is signed in."""
    monkeypatch.setattr(current, "SIZE", 2)
    app = Flask("console")
    app.secret_key = "secret"
    app.extensions["bulksms_api"] = Api("http://127.0.0.1:9")
    with app.test_request_context():
        session[SESSION_TOKEN] = "session"
        yield []


def kept(account: str, lasting: list[int]) -> KeptTokens:
    def ask() -> dict[str, Any]:
        return {"access_token": f"{account} for {lasting[0]}", "scope": "send", "expires_in": lasting.pop(0)}

    return KeptTokens((account, "live"), ask)


def test_a_token_is_used_until_a_minute_before_its_end(lasting: list[int]) -> None:
    lasting += [30, 900]
    tokens = kept("1", lasting)
    assert [tokens.token() for _ in range(3)] == ["1 for 30", "1 for 900", "1 for 900"]
    lasting += [800]
    tokens.drop("1 for 900")
    assert tokens.token() == "1 for 800"


def test_no_more_tokens_are_kept_than_there_is_room_for(lasting: list[int]) -> None:
    lasting += [900] * 5
    for account in range(5):
        kept(str(account), lasting).token()
    assert len(current.api().tokens) == 1
