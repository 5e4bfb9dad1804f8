"""`bulksms carrier`."""

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, text

from shared.health.carriers import check_carriers
from tests.harness.live_workers import report_carriers
from tests.harness.service import Service
from tests.services.commands.conftest import Run
from worker.process import WorkerProcess

FILE = """
[carrier.one]
kind = "simulator"
rate = 100
[carrier.two]
kind = "simulator"
prices = { default = 1 }
[[routes]]
name = "urgent"
categories = ["authentication"]
prefixes = ["254"]
carriers = ["one", "two"]
[[routes]]
carriers = ["two"]
choose = "cheapest"
[[limits]]
sender = "ACME"
rate = 10
"""


@pytest.fixture
def run(run: Run) -> Run:
    return partial(run, "carrier")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "carriers.toml"
    path.write_text(FILE)
    return path


@pytest.fixture
def worker(engine: Engine, file: Path) -> Iterator[WorkerProcess]:
    """A worker with two carriers, that has reported."""
    with engine.begin() as connection:
        connection.execute(text("DELETE FROM carrier_report"))
        connection.execute(text("DELETE FROM carrier_setting"))
        connection.execute(text("DELETE FROM carrier_limit"))
    worker = Service(engine, carriers_file=str(file)).worker
    report_carriers(worker)
    yield worker
    worker.dispatcher.stop.set()


def listed(run: Run) -> dict[str, Any]:
    return {row["carrier"]: row for row in json.loads(run("list", "--json").stdout)}


def test_changes_reach_a_running_worker(run: Run, worker: WorkerProcess) -> None:
    run("set", "one", "--rate", "50", "--window", "20")
    run("pause", "two")
    report_carriers(worker)
    assert (worker.carriers["one"].rate, worker.carriers["one"].window) == (50, 20)
    assert {name: row["state"] for name, row in listed(run).items()} == {"one": "ready", "two": "paused"}
    run("set", "one", "--reset")
    run("resume", "two")
    report_carriers(worker)
    assert (worker.carriers["one"].rate, worker.carriers["one"].window) == (100, 400)
    assert listed(run)["two"]["state"] == "ready"


def test_a_limit_is_changed_lifted_and_reset(run: Run, worker: WorkerProcess) -> None:
    (limit,) = worker.carrier_status.limits
    for options, rate in ((("--rate", "4"), 4), (("--rate", "0"), 0), (("--reset",), 10)):
        run("limit", "sender ACME", *options)
        report_carriers(worker)
        assert limit.rate == rate
        (row,) = json.loads(run("limits", "--json").stdout)
        assert row == {"limit": "sender ACME", "rate": rate, "in_file": 10, "batches": 0}


def test_check_shows_what_a_file_configures(run: Run, file: Path) -> None:
    output = run("check", file).stdout
    assert "carrier one: 100 segments a second, window 400, 20% reserved for authentication" in output
    assert "route urgent: prefixes 254 and categories authentication -> one, then two" in output
    assert "route route 2: every message -> the cheapest of two" in output
    assert "limit sender ACME: 10 segments a second" in output


def test_one_message_goes_through_exactly_that_carrier(run: Run, worker: WorkerProcess) -> None:
    sweeper = worker.sweeper
    worker.open(worker.carriers["two"])
    sweeper.start()
    try:
        result = json.loads(run("test", "two", "254711000000", "--json").stdout)
    finally:
        sweeper.stop()
        worker.carriers["two"].close()
    assert (result["carrier"], result["status"]) == ("two", "delivered")


REPORTED = """
    UPDATE carrier_report SET state = :state, error = :error, rate = 100, allowed = :allowed,
                              reported_at = clock_timestamp() + interval '1 hour' WHERE carrier = 'one'
"""


@pytest.mark.parametrize(
    ("state", "error", "allowed", "found"),
    [
        ("ready", None, 100, ("ok", "ready in 1 of 1 worker, 100 segments a second, window 400", "")),
        ("ready", None, 70, ("notice", "throttled to 70 of 100 segments", "bulksms carrier set one --rate 70")),
        ("paused", None, 100, ("notice", "paused since", "bulksms carrier resume one")),
        (
            "down",
            "connecting: refused",
            100,
            ("wrong", "not bound since", "workers can reach its address in CARRIERS_FILE"),
        ),
        ("down", "connecting: the carrier did not answer the bind", 100, ("wrong", "not bound", "It can be reached")),
        ("down", "suspended: ESME_RINVPASWD", 100, ("wrong", "ESME_RINVPASWD", "correct its credentials")),
        ("open", "system_error", 100, ("wrong", "its circuit breaker is open since", "bulksms carrier pause one")),
        ("probing", "no_response", 100, ("wrong", "no_response", "ask the carrier")),
    ],
)
def test_the_doctor_reports_the_state_of_each_carrier(
    worker: WorkerProcess, state: str, error: str | None, allowed: float, found: tuple[str, str, str]
) -> None:
    with worker.engine.begin() as connection:
        connection.execute(text(REPORTED), {"state": state, "error": error, "allowed": allowed})
        (finding,) = (each for each in check_carriers(connection) if each.name == "carrier one")
    outcome, detail, remedy = found
    assert finding.outcome == outcome
    assert detail in finding.detail
    assert remedy in finding.remedy


def test_the_doctor_reports_a_worker_without_a_bind(worker: WorkerProcess) -> None:
    with worker.engine.begin() as connection:
        connection.execute(
            text(
                "INSERT INTO carrier_report SELECT carrier, 'other', 'down', 'connecting: refused',"
                ' since, rate, allowed, "window", alone, 0, 0, 0, reported_at FROM carrier_report'
                " WHERE carrier = 'one'"
            )
        )
        (finding,) = (each for each in check_carriers(connection) if each.name == "carrier one")
    assert (finding.outcome, finding.detail) == ("notice", "ready in 1 of 2 workers: connecting: refused")
