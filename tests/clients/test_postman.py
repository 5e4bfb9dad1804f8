"""The Postman collection runs from its first request to its last, and every request succeeds."""

import http.client
import json
import re
import time
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import text

from bulksms.local.ports import LOOPBACK
from clients.making.files import made_files
from clients.making.walkthrough import ALSO_GOOD, CAPTURED, CAPTURED_OF, FOLDERS, LIVE_ONLY, OF_TEST_KEY
from shared.accounts.administration import create_key
from shared.api_key import NewKey
from shared.scopes import SCOPES
from tests.harness.house import SECRET_KEY, House, a_house

pytestmark = pytest.mark.slow
VARIABLE = re.compile(r"\{\{(\$?\w+)\}\}")


service = a_house(workers=1, LEASE_SECONDS="30")


class Runner:
    """Runs requests as Postman does: with the collection's variables, which answers add to."""

    def __init__(self, service: House, key: NewKey) -> None:
        day = timedelta(days=1)
        now = datetime.now(UTC)
        self._port = service.port
        self._variables = {
            "base_url": "",
            "api_key": key.api_key,
            "api_secret": key.api_secret,
            "tomorrow": (now + day).isoformat().replace("+00:00", "Z"),
            "yesterday": (now - day).isoformat().replace("+00:00", "Z"),
        }

    def _filled(self, text: str) -> str:
        filled = text.replace("{{$guid}}", str(uuid4())).replace("{{$timestamp}}", str(int(time.time())))
        return VARIABLE.sub(lambda found: self._variables.get(found[1], found[0]), filled)

    def run(self, operation_id: str, request: dict[str, Any]) -> tuple[int, bytes]:
        url = request["url"]
        path = self._filled("/" + "/".join(url["path"]))
        for variable in url["variable"]:
            path = path.replace(f":{variable['key']}", self._filled(variable["value"]))
        headers = {header["key"]: self._filled(header["value"]) for header in request["header"]}
        auth = request.get("auth", {"type": "bearer", "bearer": [{"value": "{{token}}"}]})
        if auth["type"] != "noauth":
            headers["Authorization"] = f"Bearer {self._filled(auth['bearer'][0]['value'])}"
        connection = http.client.HTTPConnection(LOOPBACK, self._port, timeout=60)
        body = self._filled(request["body"]["raw"]).encode() if "body" in request else None
        connection.request(request["method"], path, body, headers)
        response = connection.getresponse()
        content = response.read()
        connection.close()
        if response.status == 200 and "json" in (response.getheader("Content-Type") or ""):
            report = json.loads(content)
            for member, name in (CAPTURED | CAPTURED_OF.get(operation_id, {})).items():
                if report.get(member):
                    self._variables[name] = report[member]
        return response.status, content

    def failures(self, folder: str, *accepted: Mapping[str, tuple[int, ...]]) -> list[Any]:
        """Run a folder; returns what was answered neither 200 nor with a status that is accepted of its operation."""
        failed = []
        for item, operation in zip(ITEMS[folder], FOLDERS[folder], strict=True):
            status, content = self.run(operation, item["request"])
            if not any(status in (200, *each.get(operation, ())) for each in accepted):
                failed.append((operation, status, content[:300]))
        return failed


COLLECTION = json.loads(made_files()["postman/bulksms.postman_collection.json"])
ITEMS = {folder["name"]: folder["item"] for folder in COLLECTION["item"]}


def test_every_request_succeeds(service: House) -> None:
    with service.engine.begin() as connection:
        account = connection.execute(text("SELECT min(id) FROM account")).scalar_one()
        key = create_key(connection, account, SECRET_KEY, test=True, scopes=SCOPES)
    runner = Runner(service, key)
    assert list(ITEMS) == list(FOLDERS)
    assert [failure for folder in FOLDERS for failure in runner.failures(folder, ALSO_GOOD, OF_TEST_KEY)] == []


def test_a_live_key_manages_people(service: House) -> None:
    runner = Runner(service, service.key)
    folders = ("1. Get a token", *LIVE_ONLY)
    assert [failure for folder in folders for failure in runner.failures(folder, ALSO_GOOD)] == []
