"""Rows are deleted in short transactions, and found before the first is deleted."""

import pytest
from sqlalchemy import Engine, func, select, text

from shared.db import delete_rows
from shared.db.tables.running import lease

PUT = text(
    """
    INSERT INTO lease (name, holder, held_until)
    SELECT 'over ' || n, 'x', now() FROM generate_series(1, 7) AS n UNION ALL SELECT 'held', 'x', now()
    """
)


@pytest.fixture
def leases(engine: Engine) -> None:
    """Seven that are over and one that is not."""
    with engine.begin() as connection:
        connection.execute(lease.delete())
        connection.execute(PUT)


IS_OVER = lease.c.name.like("over %")


def names(engine: Engine) -> list[str]:
    with engine.connect() as connection:
        return list(connection.execute(select(lease.c.name)).scalars())


def test_all_are_deleted_in_steps(engine: Engine, leases: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delete_rows, "STEP", 3)
    assert delete_rows.delete_where(engine, lease, IS_OVER) == 7
    assert names(engine) == ["held"]


def test_the_search_has_no_transaction_number(engine: Engine, leases: None) -> None:
    """While it lasts, readers of events need not wait for it."""
    writes = func.pg_current_xact_id_if_assigned().is_not(None)
    rows = select(delete_rows.ROW).select_from(lease).where(IS_OVER, ~writes)
    with engine.begin() as connection:
        assert connection.execute(delete_rows.delete_found(lease, rows)).rowcount == 7, "it had written before it ended"
    assert names(engine) == ["held"]
