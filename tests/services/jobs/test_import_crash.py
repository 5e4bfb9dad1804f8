"""A worker that dies while it imports contacts."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import text

from shared.audit.check import audit
from tests.harness.house import House, house, wait_until

pytestmark = pytest.mark.slow

ROWS = 60_000
DONE = "SELECT coalesce(max(bytes_done), 0) FROM contact_import"
HOLD = """
CREATE FUNCTION hold_import() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(7);
    RETURN NEW;
END $$;
CREATE TRIGGER hold_import BEFORE UPDATE ON contact_import FOR EACH ROW
    WHEN (OLD.bytes_done > 0 AND NEW.bytes_done > OLD.bytes_done) EXECUTE FUNCTION hold_import();
"""
"""From its second page on, an import waits for whoever holds the lock."""
LET_GO = "DROP FUNCTION hold_import() CASCADE"


@contextmanager
def held_after_its_first_page(service: House) -> Iterator[None]:
    """In the block, an import gets so far."""
    with service.engine.connect() as connection:
        connection.execute(text(HOLD))
        connection.commit()
        connection.execute(text("SELECT pg_advisory_xact_lock(7)"))
        yield
        connection.rollback()
        connection.execute(text(LET_GO))
        connection.commit()


def test_an_import_goes_on_where_the_worker_died(tmp_path: Path) -> None:
    rows = [f"{255700000000 + number},name {number}" if number % 100 else f"bad {number}" for number in range(ROWS)]
    content = ("phone,name\n" + "\n".join(rows)).encode()
    with house(tmp_path, workers=1) as service:
        account = service.new_account()
        group = service.new_group(account, 0)

        def completed() -> bool:
            return bool(service.get(f"/imports/{made}")["status"] == "completed")

        with held_after_its_first_page(service):
            made = service.import_contacts(group, content)
            wait_until(lambda: service.scalar(DONE) > 0, 60, "the first page")
            service.kill_worker()
            assert not completed()
        service.start_workers(1)
        wait_until(completed, 120, "the import's end")
        shown = service.get(f"/imports/{made}")
        bad = ROWS // 100
        assert shown["counts"] == {"rows": ROWS, "added": ROWS - bad, "changed": 0, "unchanged": 0, "invalid": bad}
        assert shown["bytes_done"] == shown["bytes"] == len(content)
        assert service.get(f"/groups/{group}")["contact_count"] == ROWS - bad
        assert service.scalar("SELECT count(*) FROM contact") == ROWS - bad
        assert service.scalar("SELECT count(*) FROM import_error") == bad
        assert audit(service.engine, full=True) == []
