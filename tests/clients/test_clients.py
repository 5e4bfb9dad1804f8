"""What the clients' pages say works against a running service, and what is generated is up to date."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from bulksms_client import Client

from clients.making.files import ROOT, made_files
from tests.harness.house import House, house

pytestmark = pytest.mark.slow
PYTHON = (ROOT / "python" / "README.md").read_text()
README = (ROOT.parent / "README.md").read_text()
TYPESCRIPT = (ROOT / "typescript" / "README.md").read_text()


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with house(tmp_path_factory.mktemp("house"), workers=1, LEASE_SECONDS="30") as made:
        made.new_account("demo", 1_000, sender="DEMO")
        yield made


@pytest.fixture
def client(service: House) -> Iterator[Client]:
    with Client(f"http://127.0.0.1:{service.port}", service.key.api_key, service.key.api_secret) as made:
        yield made


def ready(service: House, code: str) -> str:
    """A piece of a page with the service's address and key in their places."""
    code = code.replace("http://127.0.0.1:8000", f"http://127.0.0.1:{service.port}")
    code = re.sub(r'(api_?key(?:=|: ))"…"', rf'\1"{service.key.api_key}"', code, flags=re.IGNORECASE)
    return re.sub(r'(api_?secret(?:=|: ))"…"', rf'\1"{service.key.api_secret}"', code, flags=re.IGNORECASE)


def run(command: list[str], folder: Path, **env: str) -> str:
    ran = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


@pytest.mark.parametrize("name", made_files())
def test_the_generated_files_are_up_to_date(name: str) -> None:
    assert (ROOT / name).read_text() == made_files()[name], "the API has changed: run `make clients`"


def test_the_first_send_in_python(service: House, tmp_path: Path) -> None:
    first, more = re.findall(r"```python\n(.*?)```", PYTHON, re.S)[:2]
    assert len(first.strip().splitlines()) == 5
    assert f"```python\n{first}```" in README
    (tmp_path / "send.py").write_text(ready(service, first + more))
    output = run([sys.executable, "send.py"], tmp_path, PYTHONPATH=str(ROOT / "python")).splitlines()
    assert output[:2] == ["delivered", "2 ['invalid_phone']"]
    assert {line.split()[0] for line in output[2:]} == {"254711000001", "254711000002"}


def test_the_first_send_in_node(service: House, tmp_path: Path) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed: the TypeScript client was not tried")
    (code,) = re.findall(r"```js\n(.*?)```", TYPESCRIPT, re.S)
    code = code.replace('"bulksms-client"', json.dumps((ROOT / "typescript" / "index.js").as_uri()))
    (tmp_path / "send.mjs").write_text(
        ready(service, code)
        + """
const all = [];
for await (const message of client.pages("listMessages", { query: { limit: 1 } })) all.push(message.message_id);
console.log(all.includes(sent.message_id));
const body = { sender_id: "DEMO", phone: "254711000009", message: "x" };
const twice = async () => (await client.sendMessage({ key: "k", body })).send_id;
console.log((await twice()) === (await twice()));
await client.sendMessage({ body: { ...body, sender_id: "NOBODY" } }).catch((error) => console.log(error.code));
"""
    )
    output = run([node, "send.mjs"], tmp_path).splitlines()
    assert output == ["delivered", "true", "true", "sender_not_registered"]
