"""Other people's tools read the OpenAPI document and run the Postman collection without errors."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

import api.resources  # noqa: F401 - declares the endpoints
from api.openapi.document import document
from clients.making.files import ROOT
from clients.making.walkthrough import ALSO_GOOD
from shared.accounts.administration import create_key
from shared.scopes import SCOPES
from tests.harness.house import SECRET_KEY, House, house

TOOLS = Path(__file__).parent / "npm"
COLLECTION = ROOT / "postman/bulksms.postman_collection.json"

pytestmark = pytest.mark.npm


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the tools and the document."""
    folder = tmp_path_factory.mktemp("tools") / "npm"
    shutil.copytree(TOOLS, folder, ignore=shutil.ignore_patterns("node_modules"))
    run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], folder)
    (folder / "openapi.json").write_text(json.dumps(document()))
    return folder


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with house(tmp_path_factory.mktemp("newman"), workers=1) as made:
        account = made.new_account()
        with made.engine.begin() as connection:
            made.key = create_key(connection, account, SECRET_KEY, test=True, scopes=SCOPES)
        yield made


def run(command: list[str], folder: Path) -> None:
    ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    assert ran.returncode == 0, ran.stdout[-4000:] + ran.stderr[-4000:]


def test_redocly_and_spectral_find_no_errors(tools: Path) -> None:
    run(["npx", "redocly", "lint", "openapi.json"], tools)
    run(["npx", "spectral", "lint", "openapi.json", "--ruleset", "spectral.yaml", "--fail-severity", "error"], tools)


def test_generated_clients_compile(tools: Path) -> None:
    run(["npx", "openapi-typescript", "openapi.json", "--output", "generated/schema.d.ts"], tools)
    run(["npx", "orval", "--config", "orval.config.json"], tools)
    assert {file.name for file in (tools / "generated").iterdir()} == {"orval.ts", "schema.d.ts"}
    run(["npx", "tsc", "--project", "."], tools)


def test_newman_runs_the_collection(tools: Path, service: House) -> None:
    variables = {
        "base_url": f"http://127.0.0.1:{service.port}",
        "api_key": service.key.api_key,
        "api_secret": service.key.api_secret,
    }
    given = [word for name, value in variables.items() for word in ("--env-var", f"{name}={value}")]
    report = ["--reporters", "cli,json", "--reporter-json-export", "report.json"]
    run(["npx", "newman", "run", str(COLLECTION), *given, *report], tools)
    executions = json.loads((tools / "report.json").read_text())["run"]["executions"]
    assert len(executions) == sum(len(folder["item"]) for folder in json.loads(COLLECTION.read_text())["item"])
    allowed = {200}.union(*ALSO_GOOD.values())
    assert [each["item"]["name"] for each in executions if each["response"]["code"] not in allowed] == []
