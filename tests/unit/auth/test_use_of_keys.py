"""When a key was last used is noted once a minute, whatever other threads do meanwhile."""

import pytest
from sqlalchemy import Engine, create_engine

from api.auth import tokens
from api.event_loop import NeedsThread


def test_a_request_on_the_event_loop_is_left_to_a_thread_although_the_cache_was_emptied(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = tokens.Tokens(create_engine("postgresql+psycopg://"), "secret")

    def note_use(_engine: Engine, _key: str) -> None:
        made._used.clear()  # as another thread does, when too many keys are in it
        raise NeedsThread

    monkeypatch.setattr(tokens, "note_use", note_use)
    with pytest.raises(NeedsThread):
        made._note_use("key")
