"""Settling doubts by a carrier's report."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from click.testing import Result
from sqlalchemy import Engine, text

from tests.harness.own_database import own_database
from tests.harness.service import Service
from tests.services.commands.conftest import as_json

FIRST, SECOND, THIRD = "99906000001", "99906000002", "99906000003"
Reconcile = Callable[..., Result]


engine = own_database


@pytest.fixture
def service(engine: Engine) -> Service:
    """Three messages in doubt, and two that are not."""
    made = Service(engine)
    made.bulk([FIRST, SECOND, THIRD, "254711000001", "254711000002"])
    made.deliver_receipts()
    made.worker.carrier_status.refresh()
    return made


@pytest.fixture
def reconcile(service: Service, run: Reconcile, tmp_path: Path) -> Reconcile:
    def reconciled(*lines: str, options: tuple[str, ...] = (), code: int = 0) -> Result:
        report = tmp_path / "report.csv"
        report.write_text("\n".join(lines) + "\n")
        return run("reconcile", "--carrier", "simulator", report, *options, code=code)

    return reconciled


def test_a_row_of_a_known_message_is_no_evidence(service: Service, reconcile: Reconcile) -> None:
    with service.engine.begin() as connection:
        connection.execute(text("UPDATE message SET phone = :phone WHERE phone = 254711000001"), {"phone": int(FIRST)})
        reference = connection.execute(
            text("SELECT reference FROM message WHERE phone = :phone AND reference IS NOT NULL"), {"phone": int(FIRST)}
        ).scalar_one()
    found = as_json(reconcile("reference,phone,status", f"{reference},{FIRST},delivered", options=("--json",)))
    assert (found["not_in_doubt"], found["matched"]) == (1, {})


def test_an_ambiguous_row_is_left_to_a_person(service: Service, reconcile: Reconcile) -> None:
    service.bulk([FIRST])
    lines = ["phone,status", f"{FIRST},sent", f"{SECOND},sent", f"{SECOND},delivered", "254799999999,sent"]
    found = as_json(reconcile(*lines, options=("--json", "--apply")))
    assert found["ambiguous_lines"] == [2, 3, 4]
    assert (found["unmatched"], found["resolved"], found["left_in_doubt"]) == (1, 0, 4)


@pytest.mark.parametrize("response", ["sent", "failed"])
def test_a_row_that_may_be_of_another_message_is_left_to_a_person(
    service: Service, reconcile: Reconcile, response: str
) -> None:
    """The report has no references, and one row: which of the two messages to the phone the carrier has is unknown."""
    change = text("UPDATE message SET phone = :phone, status = :status WHERE phone = 254711000001")
    service.execute(change, phone=int(FIRST), status=response)
    found = as_json(reconcile("phone,status", f"{FIRST},{response}", options=("--json",)))
    assert (found["matched"], found["ambiguous_lines"]) == ({}, [2])


def test_a_row_that_may_be_of_a_message_under_way_is_left_to_a_person(service: Service, reconcile: Reconcile) -> None:
    tomorrow = (datetime.now(UTC) + timedelta(days=1)).isoformat()
    send = service.bulk([FIRST], send_at=tomorrow).json["send_id"]
    service.execute("UPDATE batch SET state = 'sending' WHERE send_id = :id", id=send)
    found = as_json(reconcile("phone,status", f"{FIRST},sent", options=("--json",)))
    assert (found["matched"], found["ambiguous_lines"]) == ({}, [2])


def test_sender_and_time_tell_doubts_apart(service: Service, reconcile: Reconcile) -> None:
    service.bulk([FIRST])
    with service.engine.begin() as connection:
        latest = text("SELECT max(submitted_at) FROM doubt")
        at = connection.execute(latest).scalar_one()
        for table in ("doubt", "message"):
            earlier = text(f"UPDATE {table} SET submitted_at = :at - interval '1 hour' WHERE submitted_at < :at")
            connection.execute(earlier, {"at": at})
    lines = ["phone,sender,time,status", f"{FIRST},ACME,{at - timedelta(hours=1)},sent", f"{FIRST},OTHER,{at},sent"]
    found = as_json(reconcile(*lines, options=("--json", "--apply")))
    assert (found["matched"], found["unmatched"], found["left_in_doubt"]) == ({"sent": 1}, 1, 3)


def test_bad_rows_are_reported_with_their_line(reconcile: Reconcile) -> None:
    result = reconcile("phone,status,time", f"{FIRST},perhaps,", "x,sent,", f"{FIRST},sent,yesterday")
    for line, what in ((2, "not a known status"), (3, "not a phone"), (4, "not a time")):
        assert any(
            f"line {line}: " in line_of_output and what in line_of_output
            for line_of_output in result.stderr.splitlines()
        )


@pytest.mark.parametrize("header", ["", "phone,time", "a,b"])
def test_a_file_without_the_columns_is_refused(reconcile: Reconcile, header: str) -> None:
    assert "names no column for" in reconcile(header, "1,2", code=1).stderr
