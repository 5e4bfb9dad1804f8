"""Settling doubts by a carrier's report."""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from sqlalchemy import Engine, text

from bulksms.cli import main
from bulksms.local.postgres import Postgres
from shared.audit.check import audit
from tests.harness.database import fresh_database
from tests.harness.service import SECRET_KEY, Service

FIRST, SECOND, THIRD = "99906000001", "99906000002", "99906000003"
Reconcile = Callable[..., Result]


@pytest.fixture
def engine(postgres_server: Postgres) -> Iterator[Engine]:
    made = fresh_database(postgres_server)
    yield made
    made.dispose()


@pytest.fixture
def service(engine: Engine) -> Service:
    """Three messages in doubt, and two that are not."""
    made = Service(engine)
    made.bulk([FIRST, SECOND, THIRD, "254711000001", "254711000002"])
    made.deliver_receipts()
    made.worker.carrier_status.refresh()
    return made


@pytest.fixture
def reconcile(service: Service, tmp_path: Path) -> Reconcile:
    def run(*lines: str, options: tuple[str, ...] = (), code: int = 0, encoding: str = "utf-8") -> Result:
        report = tmp_path / "report.csv"
        report.write_text("\n".join(lines) + "\n", encoding)
        env = {
            "DATABASE_URL": service.engine.url.render_as_string(hide_password=False),
            "REDIS_URL": "redis://127.0.0.1:1",
            "SECRET_KEY": SECRET_KEY,
        }
        result = CliRunner().invoke(main, ["reconcile", "--carrier", "simulator", str(report), *options], env=env)
        assert result.exit_code == code, result.output
        return result

    return run


def statuses(service: Service) -> dict[str, str]:
    with service.engine.connect() as connection:
        rows = connection.execute(text("SELECT CAST(phone AS text), CAST(status AS text) FROM message"))
        return {row[0]: row[1] for row in rows}


def as_json(result: Result) -> Any:
    return json.loads(result.stdout)


def test_it_works(service: Service, reconcile: Reconcile) -> None:
    lines = ("Message ID,To,Status", f"r1,{FIRST},DELIVRD", f"r2,+{SECOND},undeliv", f"r3,{THIRD},not_found")
    assert "3 messages would be resolved; nothing was changed" in reconcile(*lines).stderr
    assert as_json(reconcile(*lines, options=("--json",)))["left_in_doubt"] == 3
    assert statuses(service)[FIRST] == "in_doubt"
    assert "3 messages resolved; 0 left in doubt" in reconcile(*lines, options=("--apply",)).stderr
    known = statuses(service)
    assert (known[FIRST], known[SECOND], known[THIRD]) == ("delivered", "undelivered", "failed")
    assert service.get("/balance").json["balance"] == 1000 - 4
    assert audit(service.engine, full=True) == []
    assert as_json(reconcile(*lines, options=("--apply", "--json")))["resolved"] == 0


def test_a_report_is_quoted_as_it_is_written(reconcile: Reconcile) -> None:
    report = "phone,status", f"{FIRST},[red]", "[bold]1[/bold],sent", "254799999999,sent"
    told = reconcile(*report).stderr
    assert "[red]" in told and "[bold]1[/bold]" in told
    assert "0 rows of messages that are not in doubt, 1 that fits no message" in told


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
    with service.engine.begin() as connection:
        connection.execute(change, {"phone": int(FIRST), "status": response})
    found = as_json(reconcile("phone,status", f"{FIRST},{response}", options=("--json",)))
    assert (found["matched"], found["ambiguous_lines"]) == ({}, [2])


def test_a_row_that_may_be_of_a_message_under_way_is_left_to_a_person(service: Service, reconcile: Reconcile) -> None:
    tomorrow = (datetime.now(UTC) + timedelta(days=1)).isoformat()
    send = service.bulk([FIRST], send_at=tomorrow).json["send_id"]
    with service.engine.begin() as connection:
        connection.execute(text("UPDATE batch SET state = 'sending' WHERE send_id = :id"), {"id": send})
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


def test_another_carriers_doubts_are_not_concerned(service: Service, reconcile: Reconcile) -> None:
    with service.engine.begin() as connection:
        connection.execute(text("UPDATE doubt SET carrier = 'another'"))
    assert as_json(reconcile("phone,status", f"{FIRST},sent", options=("--json",)))["unmatched"] == 1


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


@pytest.mark.parametrize(
    ("name", "encoding", "problem"),
    [
        ("José", "latin-1", "not CSV in UTF-8. Line 2 has the byte 0xE9"),
        ("A\0", "utf-8", "not CSV: it contains a NUL character"),
        ("x" * 200_000, "utf-8", "not CSV: field larger than field limit"),
    ],
)
def test_a_file_that_is_not_csv_is_refused(reconcile: Reconcile, name: str, encoding: str, problem: str) -> None:
    lines = ("phone,status,name", f"{FIRST},sent,{name}")
    assert problem in reconcile(*lines, code=1, encoding=encoding).stderr.replace("\n", " ")


def test_a_spreadsheet_is_refused(reconcile: Reconcile) -> None:
    assert "is not CSV. Save it as CSV in UTF-8." in reconcile("PK\x03\x04", code=1).stderr.replace("\n", " ")


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_report_may_have_a_byte_order_mark(reconcile: Reconcile, encoding: str) -> None:
    found = as_json(reconcile("phone,status", f"{FIRST},sent", options=("--json",), encoding=encoding))
    assert found["matched"] == {"sent": 1}


def test_an_unknown_status_is_refused_with_the_known_ones(reconcile: Reconcile) -> None:
    said = reconcile("phone,status", f"{FIRST},perhaps").stderr.replace("\n", " ")
    assert "'perhaps' is not a known status; there are delivered, delivrd, sent," in said
    assert ", not_sent," in said


def test_an_unknown_carrier_is_refused(service: Service, reconcile: Reconcile) -> None:
    another = ("--carrier", "another")
    refused = reconcile("phone,status", f"{FIRST},sent", options=another, code=2)
    assert "There is no carrier another." in refused.stderr
    with service.engine.begin() as connection:
        connection.execute(text("UPDATE doubt SET carrier = 'another'"))
    found = as_json(reconcile("phone,status", f"{FIRST},sent", options=(*another, "--json")))
    assert found["left_in_doubt"] == 3
