"""Alerts about hosts, servers, receipts and ages: each is made to fire by the fault itself.

For ages, a second Prometheus counts hours that last seconds.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from pathlib import Path

import pytest
from sqlalchemy import text

from bulksms.local import services
from bulksms.local.ports import LOOPBACK, free_port
from tests.harness.fetch import fetch
from tests.harness.house import wait_until
from tests.observe.watched import Watched, phones, run, send, send_one

pytestmark = pytest.mark.prometheus
AGE = "UPDATE receipt SET received_at = now() - interval '11 minutes' WHERE received_at > now() - interval '9 minutes'"
RECEIPT = "id:0123456789 sub:001 dlvrd:001 submit date:2601010000 done date:2601010000 stat:DELIVRD err:000 text:"


def test_no_audit(watched: Watched) -> None:
    with watched.with_hours_of(5) as hurried:
        hurried.wait_for("BulksmsAuditLate")
        run(watched.service, "audit")
        hurried.wait_for_end_of("BulksmsAuditLate")


def test_a_doubt_that_nobody_resolves(watched: Watched) -> None:
    send_one(watched.service, "99906000001")
    with watched.with_hours_of(1) as hurried:
        hurried.wait_for("BulksmsDoubtsOld")


def test_receipts_that_cannot_be_read(watched: Watched) -> None:
    stats = free_port()
    with watched.with_smsc("--stats-port", str(stats)):
        watched.prometheus.wait_for_end_of("BulksmsCarrierDown")

        def deliver() -> bool:
            body = json.dumps({"phone": "254711000000", "recipient": "ACME", "message": RECEIPT})
            assert fetch(stats, "/inbound", "POST", body).status == HTTPStatus.OK
            return "BulksmsReceiptsUnreadable" in watched.prometheus.firing()

        wait_until(deliver, 90, "the alert")


def test_receipts_with_ids_in_another_form(watched: Watched) -> None:
    with watched.with_smsc("--answer-ids", "decimal"):
        sent = 0

        def send_more() -> bool:
            nonlocal sent
            send(watched.service, phones(60, 254716000000 + sent))
            sent += 60
            watched.service.execute(AGE)
            return "BulksmsReceiptsUnmatched" in watched.prometheus.firing()

        wait_until(send_more, 90, "the alert")


def test_an_import_whose_file_is_damaged(watched: Watched) -> None:
    """It fails until it is set aside. Only the waits between its attempts are shorter here."""
    service = watched.service
    group = service.new_group(service.scalar("SELECT id FROM account WHERE name = 'acme'"), 1)
    while service.workers:
        service.kill_worker()
    imported = service.import_contacts(group, b"phone\n254718000000\n")
    service.execute("DELETE FROM import_chunk WHERE import_id = :id", id=imported)
    service.start_workers(2)

    def is_set_aside() -> bool:
        service.execute("UPDATE job_failure SET retry_at = now()")
        return "BulksmsJobsSetAside" in watched.prometheus.firing()

    wait_until(is_set_aside, 90, "the alert")


def test_counts_that_are_blocked(watched: Watched) -> None:
    with watched.with_hours_of(60) as hurried, watched.service.engine.begin() as connection:
        connection.execute(text("LOCK TABLE unreadable_receipt IN ACCESS EXCLUSIVE MODE"))

        def fires() -> bool:
            connection.execute(text("SELECT 1"))  # an idle session would be ended
            return "BulksmsCountsOld" in hurried.firing()

        wait_until(fires, 90, "the alert")


def test_redis_away(watched: Watched) -> None:
    watched.service.redis.stop()
    try:
        watched.prometheus.wait_for("BulksmsServerUnreachable")
    finally:
        watched.service.redis.start()
    watched.prometheus.wait_for_end_of("BulksmsServerUnreachable")


def test_a_replica_that_does_not_answer(watched: Watched) -> None:
    port = free_port()
    nobody = f"postgresql+psycopg://bulksms@{LOOPBACK}:{free_port()}/bulksms"
    api = services.api(port, {**watched.service.env, "REPLICA_URL": nobody}, watched.service.folder, Path.cwd())
    api.launch()
    try:
        api.wait_ready(60)
        with watched.with_hours_of(3600, port) as other:
            other.wait_for("BulksmsReplicaBehind")
    finally:
        api.stop()


def test_a_worker_whose_clock_is_off(watched: Watched, tmp_path: Path) -> None:
    library = tmp_path / "clock.so"
    source = Path("tests/faults/clock.c")
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", str(library), str(source), "-ldl"], check=True)
    right = watched.service.env
    watched.service.env = {**right, "LD_PRELOAD": str(library), "CLOCK_OFFSET": "120"}
    try:
        watched.service.launch_worker()
        watched.prometheus.wait_for("BulksmsClockOff")
    finally:
        watched.service.env = right
        watched.service.kill_worker(-1)
    watched.prometheus.wait_for_end_of("BulksmsClockOff")


@contextmanager
def small_disk(folder: Path) -> Iterator[Path]:
    """A file system of 16 MB in a file."""
    if os.geteuid() != 0:
        pytest.skip("a small disk takes the right to mount one: run it as root")
    image, mounted = folder / "disk", folder / "mounted"
    mounted.mkdir()
    with image.open("wb") as file:
        file.truncate(16 << 20)
    subprocess.run(["mkfs.ext4", "-q", str(image)], check=True)
    subprocess.run(["mount", "-o", "loop", str(image), str(mounted)], check=True)
    try:
        yield mounted
    finally:
        subprocess.run(["umount", str(mounted)], check=True)


def test_a_disk_that_is_nearly_full(watched: Watched, tmp_path: Path) -> None:
    program = shutil.which("prometheus-node-exporter")
    assert program, "install Debian's prometheus-node-exporter"
    port = free_port()
    command = [program, f"--web.listen-address={LOOPBACK}:{port}", "--collector.disable-defaults"]
    with small_disk(tmp_path) as disk:
        exporter = subprocess.Popen([*command, "--collector.filesystem"], stderr=subprocess.DEVNULL)
        try:
            with watched.with_hours_of(3600, port) as other:
                of_disk = f'BulksmsDiskFull{{mountpoint="{disk}"}}'
                firing = f'ALERTS{{alertname="BulksmsDiskFull",alertstate="firing",mountpoint="{disk}"}}'
                wait_until(lambda: other.query(f'node_filesystem_size_bytes{{mountpoint="{disk}"}}'), 30, of_disk)
                assert not other.query(firing)
                (disk / "filler").write_bytes(bytes(15 << 20)[: 13 << 20])
                wait_until(lambda: other.query(firing), 60, of_disk)
        finally:
            exporter.terminate()
            exporter.wait(30)


def test_a_database_that_was_restored_from_a_backup(watched: Watched, tmp_path: Path) -> None:
    service, backup = watched.service, tmp_path / "backup"
    service.postgres.stop("fast")
    shutil.copytree(service.postgres.data_dir, backup)
    service.postgres.start()
    service.engine.dispose()
    ready = "SELECT count(*) FROM lease WHERE name LIKE 'worker:%' AND held_until > now()"
    wait_until(lambda: service.scalar(ready), 60, "the workers")
    send(service, phones(200, 254717000000))
    service.wait_for_end()
    service.postgres.stop("fast")
    shutil.rmtree(service.postgres.data_dir)
    shutil.copytree(backup, service.postgres.data_dir)
    service.postgres.start()
    service.engine.dispose()
    watched.prometheus.wait_for("BulksmsGuardHeld")
    run(service, "guard", "release")
    watched.prometheus.wait_for_end_of("BulksmsGuardHeld")
