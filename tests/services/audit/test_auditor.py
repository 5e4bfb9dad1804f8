"""The audit that workers make by themselves."""

import logging
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import Engine, text

from api.commit.commit import commit_sends
from shared.accounts.administration import create_account
from shared.accounts.top_ups import top_up
from shared.audit.check import Breach
from tests.harness.drafts import single
from tests.harness.own_database import own_database
from tests.harness.sql import Database
from worker.jobs.auditor import ATTEMPT, LONGEST_PAUSE, audit_when_due

engine = own_database


def test_a_wrong_balance_freezes_its_account_and_no_other(engine: Engine, caplog: pytest.LogCaptureFixture) -> None:
    with engine.begin() as connection:
        wrong, right = (create_account(connection, name) for name in ("wrong", "right"))
        for account in (wrong, right):
            top_up(connection, account, 100, "test", f"first-{account}")
        connection.execute(text("UPDATE account SET available = available + 1 WHERE id = :id"), {"id": wrong})
    with caplog.at_level(logging.ERROR):
        assert audit_when_due(engine)
    states: dict[int, str] = dict(Database(engine).execute("SELECT id, state FROM account"))  # type: ignore[arg-type]
    assert states == {wrong: "frozen", right: "active"}
    assert any("audit" in record.message for record in caplog.records)
    assert not audit_when_due(engine), "once an hour is enough"
    caplog.clear()
    Database(engine).execute("UPDATE lease SET held_until = '-infinity'")
    assert audit_when_due(engine)
    assert "account_caches" in caplog.text, "the balance is still wrong"
    assert "froze" not in caplog.text, "the account is frozen already"


@pytest.mark.parametrize(("due", "found"), [("audit", False), ("audit-day", True)])
def test_recent_sends_are_audited_hourly_and_the_rest_daily(
    engine: Engine, caplog: pytest.LogCaptureFixture, due: str, found: bool
) -> None:
    """What a send costs to audit does not grow with each hour since its end."""
    assert audit_when_due(engine)
    with engine.begin() as connection:
        account = create_account(connection, "three hours ago")
        top_up(connection, account, 1, "test", "first")
        commit_sends(connection, [single(account)])
        connection.execute(text("UPDATE batch SET state = 'done', next_index = 2"))
        connection.execute(text("UPDATE send SET state = 'completed', completed_at = now() - interval '3 hours'"))
        connection.execute(text("UPDATE lease SET held_until = '-infinity' WHERE name = :name"), {"name": due})
    with caplog.at_level(logging.ERROR):
        assert audit_when_due(engine)
    assert any("send_batches" in record.getMessage() for record in caplog.records) == found


HELD = text("SELECT name, held_until > now() + :time AS is_held FROM lease")
LATER = text("UPDATE lease SET held_until = held_until - CAST(:time AS interval)")


def held(engine: Engine, time: timedelta) -> dict[str, bool]:
    """Whether each period will still be held after that time."""
    return {row.name: row.is_held for row in Database(engine).execute(HELD, time=time)}


def test_an_audit_that_is_not_completed_is_made_again_soon(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    spans = []

    def die(*_: object, **given: Any) -> None:
        spans.append(given["span"])
        raise OSError("the worker dies here")

    with monkeypatch.context() as while_it_dies:
        while_it_dies.setattr("worker.jobs.auditor.audit", die)
        with pytest.raises(OSError, match="dies here"):
            audit_when_due(engine)
        assert not audit_when_due(engine), "nobody knows that the worker has died"
        Database(engine).execute(LATER, time=ATTEMPT)
        with pytest.raises(OSError, match="dies here"):
            audit_when_due(engine)
    assert spans == [timedelta(hours=26)] * 2, "of the whole day"
    Database(engine).execute(LATER, time=ATTEMPT)
    assert audit_when_due(engine)
    assert held(engine, timedelta(hours=20)) == {"audit": False, "audit-day": True}


def test_a_long_audit_goes_on_alone(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    others = []

    def rules_that_last(*_: object, on_rule: Callable[[], None], **__: object) -> list[Breach]:
        for _ in range(3):
            Database(engine).execute(LATER, time=ATTEMPT * 0.6)
            on_rule()
            others.append(audit_when_due(engine))
        return []

    monkeypatch.setattr("worker.jobs.auditor.audit", rules_that_last)
    assert audit_when_due(engine)
    assert others == [False] * 3


def test_an_audit_does_not_wait_for_a_clock_that_was_set_back(engine: Engine) -> None:
    assert audit_when_due(engine)
    Database(engine).execute(LATER, time=-LONGEST_PAUSE)
    assert audit_when_due(engine)


def test_after_a_long_audit_the_next_one_waits_longer(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("worker.jobs.auditor.MIN_PAUSE_FACTOR", 1_000_000)
    audit_when_due(engine)
    assert not audit_when_due(engine), "however long it waits"
    held_longer = Database(engine).scalars("SELECT held_until > now() + interval '90 min' FROM lease ORDER BY name")
    assert held_longer == [True, True], "the hourly one, and the day's as ever"
