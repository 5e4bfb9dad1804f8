"""Faults of the machine: its clocks, its disks, its power; and a schema that changes under what runs."""

import contextlib
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from sqlalchemy import text

from bulksms.cli import main
from bulksms.local import postgres
from bulksms.local.errors import LocalError
from shared.audit.check import audit
from shared.db.migrate import migrate
from shared.db.schema import head
from tests.faults.ground import LEASE, WINDOW, Fault, Ground, shuffled, standing
from tests.faults.test_postgres import ONE_CRASH, has_refused
from tests.harness.house import OPEN, wait_until


def preloaded(name: str, folder: Path) -> Path:
    """What LD_PRELOAD takes, built from the C file of that name."""
    if shutil.which("gcc") is None:
        pytest.skip("there is no gcc to build what is preloaded")
    library = folder / f"{name}.so"
    source = Path(__file__).with_name(f"{name}.c")
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", str(library), str(source), "-ldl"], check=True)
    return library


@contextlib.contextmanager
def small_disk(folder: Path, megabytes: int) -> Iterator[Path]:
    """A file system of its own in memory."""
    folder.mkdir()
    if os.geteuid() != 0:
        pytest.skip("a small disk takes the right to mount one: run it as root")
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(folder)], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def fill(disk: Path) -> Path:
    """Take all the space that is left."""
    ballast = disk / "ballast"
    with contextlib.suppress(OSError), ballast.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))
    assert shutil.disk_usage(disk).free < 4096
    return ballast


def postgres_again(house: Ground) -> None:
    """Start Postgres if it gave up, as a supervisor would."""
    if house.postgres.exit_code() is not None:
        house.postgres.start()


def test_the_disk_of_the_database_is_full(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", 400) as disk, standing(disk) as fault:
        house = fault.house
        with fault.workload():
            ballast = fill(disk)
            wait_until(
                lambda: fault.traffic.wanted[-1].tries and fault.traffic.wanted[-1].tries[-1].status != 200,
                120,
                "a refusal",
            )
            time.sleep(4)
            ballast.unlink()
            postgres_again(house)
        has_refused(fault)
        fault.check(in_doubt=ONE_CRASH)


def test_the_disk_of_the_logs_is_full(tmp_path: Path) -> None:
    with small_disk(tmp_path / "logs", 8) as disk, standing(tmp_path) as fault:
        house = fault.house
        house.folder = disk
        start_anew(house, {"api": {}, "worker": {}})
        with fault.workload():
            ballast = fill(disk)
            house.redis.kill()  # something to be logged
            time.sleep(4)
            house.redis.start()
            ballast.unlink()
        fault.check(in_doubt=0)
        assert {each.status for wanted in fault.traffic.wanted for each in wanted.tries} == {200}


def test_fsync_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shim, flag = preloaded("fsync", tmp_path), tmp_path / "fails"
    monkeypatch.setitem(postgres.ENVIRONMENT, "LD_PRELOAD", str(shim))
    monkeypatch.setitem(postgres.ENVIRONMENT, "FSYNC_FAILS", str(flag))
    with standing(tmp_path) as fault:
        house = fault.house
        with fault.workload():
            flag.touch()
            wait_until(lambda: "PANIC" in house.postgres.log_file.read_text(), 60, "the end of Postgres")
            time.sleep(2)
            flag.unlink()
            with contextlib.suppress(LocalError):
                house.postgres.stop("immediate")
            house.postgres.start()
        has_refused(fault)
        fault.check(in_doubt=2 * ONE_CRASH)


def test_restored_from_an_older_backup(tmp_path: Path) -> None:
    with standing(tmp_path, GUARD_FILE=str(tmp_path / "mark.json")) as fault:
        house, backup = fault.house, tmp_path / "backup"
        with fault.workload():
            house.postgres.stop("fast")
            shutil.copytree(house.postgres.data_dir, backup)
            house.postgres.start()
            house.engine.dispose()
            time.sleep(3)
        fault.traffic.settle()
        house.wait_for_end(90)
        given = house.at_carrier()
        house.postgres.stop("fast")
        shutil.rmtree(house.postgres.data_dir)
        shutil.copytree(backup, house.postgres.data_dir)
        house.postgres.start()
        house.engine.dispose()

        restored = house.at_carrier()
        assert len(restored) < len(given)
        wait_until(lambda: house.scalar("SELECT held_since FROM installation"), 60, "the guard")
        time.sleep(2 * LEASE)
        assert house.at_carrier() == restored, "nothing is sent"
        wait_until(house.is_answering, 30, "the API")
        command(house, "guard", "release")
        fresh = str(house.phones(1))
        send = house.post("/sms/send", sender_id="ACME", phone=fresh, message="Hi")["send_id"]
        wait_until(
            lambda: house.get(f"/sends/{send}")["counts"]["delivered"] == 1, 60, "what is sent after the release"
        )
        with house.engine.connect() as connection:
            for held in connection.execute(text("SELECT id FROM send WHERE state = 'held'")).scalars().all():
                command(house, "send", "cancel", str(held))
        house.wait_for_end(60)
        assert not (house.at_carrier() - restored) & given
        assert audit(house.engine, full=True) == []


def command(house: Ground, *arguments: str) -> None:
    """An operator's command; it must succeed."""
    result = CliRunner().invoke(main, list(arguments), env=house.env)
    assert result.exit_code == 0, result.output


NEWER = text(
    """
    WITH revision AS (UPDATE alembic_version SET version_num = :revision)
    UPDATE compatibility SET oldest_code = :oldest
    """
)
"""A release, and the oldest one that can use its schema."""


def test_the_schema_changes(fault: Fault) -> None:
    house = fault.house
    with fault.workload():
        for _ in range(3):
            with house.engine.begin() as connection:
                connection.execute(text("ALTER TABLE send ADD COLUMN of_a_later_release integer"))
            migrate(house.engine)
            with house.engine.begin() as connection:
                connection.execute(text("ALTER TABLE send DROP COLUMN of_a_later_release"))
        with house.engine.begin() as connection:
            oldest = connection.execute(text("SELECT oldest_code FROM compatibility")).scalar_one()
            connection.execute(NEWER, {"revision": "9999", "oldest": "9999"})
        house.launch_worker()
        old = house.workers.pop()
        wait_until(lambda: old.exit_code() is not None, 60, "the refusal of the worker")
        assert old.exit_code() not in (0, None)
        assert "The database is newer than this code" in old.log_file.read_text()
        assert house.api is not None and not house.api.ready()
        with house.engine.begin() as connection:
            connection.execute(NEWER, {"revision": head(), "oldest": oldest})
    fault.check()


def test_clocks(fault: Fault, tmp_path: Path) -> None:
    house, shim = fault.house, str(preloaded("clock", tmp_path))
    for hours in (2, -2):
        for process in ("worker", "api"):
            fake = {"LD_PRELOAD": shim, "CLOCK_OFFSET": str(hours * 3600)}
            start_anew(house, {"api": {}, "worker": {}, process: fake})
            with fault.workload():
                time.sleep(2)
            wait_until(lambda: not house.scalar(OPEN), 60, f"the sends with the {process}'s clock {hours:+d} h off")
            # The simulated carrier's receipts are due by its process's clock.
            with house.engine.begin() as connection:
                connection.execute(text("UPDATE simulated_receipt SET due_at = now()"))
            house.wait_for_end(60)
    start_anew(house, {"api": {}, "worker": {}})
    for traffic in fault.traffics:
        traffic.renew()
    fault.check()


def start_anew(house: Ground, environment: dict[str, dict[str, str]]) -> None:
    """Stop the API and the workers, and start them with more environment."""
    for command in house.commands():
        command.stop()
    house.workers.clear()
    house.more = environment
    house.start_api()
    house.start_workers(2)


@pytest.mark.parametrize("seed", [1, 2])
def test_power_loss(fault: Fault, seed: int) -> None:
    house = fault.house
    with fault.workload():
        for command in house.commands():
            command.kill()
        house.redis.kill()
        house.postgres.kill()
        starts = [house.postgres.start, house.redis.start, *(command.launch for command in house.commands())]
        for start in shuffled(starts, seed):
            start()
            time.sleep(0.5)
    fault.check(in_doubt=2 * WINDOW + ONE_CRASH)
