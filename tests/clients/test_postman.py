"""The Postman collection runs from its first request to its last, and every request succeeds."""

import http.client
import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from bulksms.local.ports import LOOPBACK
from clients.making.files import made_files
from clients.making.walkthrough import ALSO_GOOD, CAPTURED, CAPTURED_OF, FOLDERS
from shared.accounts.administration import create_key
from shared.api_key import SCOPES
from tests.harness.house import SECRET_KEY, House, house

VARIABLE = re.compile(r"\{\{(\$?\w+)\}\}")


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with house(tmp_path_factory.mktemp("postman"), workers=1) as made:
        account = made.new_account()
        with made.engine.begin() as connection:
            made.key = create_key(connection, account, SECRET_KEY, test=True, scopes=SCOPES)
        yield made


class Runner:
    """Runs requests as Postman does: with the collection's variables, which answers add to."""

    def __init__(self, service: House) -> None:
        day = timedelta(days=1)
        now = datetime.now(UTC)
        self._port = service.port
        self._variables = {
            "base_url": "",
            "api_key": service.key.api_key,
            "api_secret": service.key.api_secret,
            "tomorrow": (now + day).isoformat().replace("+00:00", "Z"),
            "yesterday": (now - day).isoformat().replace("+00:00", "Z"),
        }

    def _filled(self, text: str) -> str:
        return VARIABLE.sub(lambda found: str(uuid4()) if found[1] == "$guid" else self._variables[found[1]], text)

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
        body = self._filled(request["body"]["raw"]) if "body" in request else None
        connection.request(request["method"], path, body, headers)
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        if answer.status == 200 and "json" in (answer.getheader("Content-Type") or ""):
            told = json.loads(content)
            for member, name in (CAPTURED | CAPTURED_OF.get(operation_id, {})).items():
                if told.get(member):
                    self._variables[name] = told[member]
        return answer.status, content


def test_every_request_succeeds(service: House) -> None:
    collection = json.loads(made_files()["postman/bulksms.postman_collection.json"])
    assert len(collection["item"]) == len(FOLDERS)
    runner = Runner(service)
    failed = []
    for folder, ids in zip(collection["item"], FOLDERS.values(), strict=True):
        for item, operation_id in zip(folder["item"], ids, strict=True):
            status, content = runner.run(operation_id, item["request"])
            if status not in (200, *ALSO_GOOD.get(operation_id, ())):
                failed.append((operation_id, status, content[:300]))
    assert failed == []
