"""A million contacts in one file: the memory stays flat, the progress is shown, and the groups are listed meanwhile."""

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psutil
import pytest

from shared.audit.check import audit
from tests.harness.house import house

ROWS = 1_000_000
BAD = ROWS // 1000
FIRST = 254_700_000_000
MAX_GROWTH_BYTES = 100 * 1024 * 1024
"""Bytes by which a process may grow; the file alone has a quarter of that, and as Python objects many times as much."""


def write_file(path: Path) -> None:
    with path.open("w") as file:
        file.write("phone,name,tags\n")
        for number in range(ROWS):
            phone = "bad" if number % 1000 == 999 else FIRST + number * 7919 % 99_000_000
            file.write(f"{phone},name {number},vip\n" if number % 10 == 0 else f"{phone},name {number},\n")


def memory(process: Any) -> int:
    """Bytes of a process and its children."""
    first = psutil.Process(process.pid)
    return int(first.memory_info().rss + sum(child.memory_info().rss for child in first.children(recursive=True)))


@pytest.mark.million
def test_a_million_contacts_in_one_file(tmp_path: Path) -> None:
    path = tmp_path / "contacts.csv"
    write_file(path)
    with house(tmp_path / "house", workers=1) as service, ThreadPoolExecutor(1) as pool:
        account = service.new_account()
        for _ in range(200):
            service.new_group(account, 0)
        group = service.new_group(account, 100)
        service.post("/sms/send", sender_id="ACME", phone="254711000000", message="Hi")
        before = {"api": memory(service.api), "worker": memory(service.workers[0])}
        most, progress = dict(before), []
        uploading = pool.submit(service.import_contacts, group, path.read_bytes())
        while True:
            uploaded = uploading.done()
            assert len(service.get("/groups")["data"]) == 201
            for name, process in (("api", service.api), ("worker", service.workers[0])):
                most[name] = max(most[name], memory(process))
            if uploaded:
                shown = service.get(f"/imports?group_id={group}")["data"][0]
                progress.append(shown["bytes_done"] / shown["bytes"])
                if shown["status"] not in ("queued", "running"):
                    break
            time.sleep(0.05)
        uploading.result()
        assert shown["status"] == "completed", shown
        assert shown["counts"] == {"rows": ROWS, "added": ROWS - BAD, "changed": 0, "unchanged": 0, "invalid": BAD}
        assert progress == sorted(progress) and len(set(progress)) > 5
        assert service.get(f"/groups/{group}")["contact_count"] == ROWS - BAD + 100
        assert service.scalar("SELECT count(*) FROM import_error") == BAD
        assert {name for name in most if most[name] - before[name] > MAX_GROWTH_BYTES} == set()
        assert audit(service.engine, full=True) == []
