"""A worker that dies while it imports contacts."""

import http.client
from pathlib import Path

from bulksms.local.ports import LOOPBACK
from shared.audit.check import audit
from tests.harness.house import House, house, wait_until

ROWS = 60_000
DONE = "SELECT coalesce(max(bytes_done), 0) FROM contact_import"


def upload(service: House, group: str, content: bytes) -> str:
    connection = http.client.HTTPConnection(LOOPBACK, service.port, timeout=60)
    try:
        headers = {"Content-Type": "text/csv", "Authorization": f"Bearer {service.token}"}
        connection.request("POST", f"/api/v1/groups/{group}/import", content, headers)
        response = connection.getresponse()
        body = response.read()
        assert response.status == 200, body
    finally:
        connection.close()
    return str(service.scalar("SELECT id FROM contact_import ORDER BY id DESC LIMIT 1"))


def test_an_import_goes_on_where_the_worker_died(tmp_path: Path) -> None:
    rows = [f"{255700000000 + number},name {number}" if number % 100 else f"bad {number}" for number in range(ROWS)]
    content = ("phone,name\n" + "\n".join(rows)).encode()
    with house(tmp_path, workers=1) as service:
        account = service.new_account()
        group = service.new_group(account, 0)
        made = upload(service, group, content)

        def completed() -> bool:
            return bool(service.get(f"/imports/{made}")["status"] == "completed")

        wait_until(lambda: service.scalar(DONE) > 0, 60, "the first pages")
        service.kill_worker()
        assert not completed(), "the import was over before the worker could be killed"
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
