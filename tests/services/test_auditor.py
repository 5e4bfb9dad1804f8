"""The audit that workers make by themselves."""

import logging

import pytest
from sqlalchemy import text

from bulksms.local.postgres import Postgres
from shared.accounts import create_account, top_up
from shared.settings import Settings
from tests.database import fresh_database
from worker.auditor import Auditor


def test_a_wrong_balance_freezes_its_account_and_no_other(
    postgres_server: Postgres, caplog: pytest.LogCaptureFixture
) -> None:
    engine = fresh_database(postgres_server)
    with engine.begin() as connection:
        wrong, right = (create_account(connection, name) for name in ("wrong", "right"))
        for account in (wrong, right):
            top_up(connection, account, 100, "test", f"first-{account}")
        connection.execute(text("UPDATE account SET available = available + 1 WHERE id = :id"), {"id": wrong})
    auditor = Auditor(engine, Settings("", "", "", ""))
    with caplog.at_level(logging.ERROR):
        assert auditor.audit_when_due()
    with engine.connect() as connection:
        states = dict(connection.execute(text("SELECT id, state FROM account")).all())  # type: ignore[arg-type]
    assert states == {wrong: "frozen", right: "active"}
    assert any("audit" in record.message for record in caplog.records)
    assert not auditor.audit_when_due(), "once an hour is enough"
    engine.dispose()
