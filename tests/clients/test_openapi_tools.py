"""Other people's tools read the OpenAPI document without errors."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

import api.resources  # noqa: F401 - declares the endpoints
from api.openapi.document import document

TOOLS = Path(__file__).parent / "npm"

pytestmark = pytest.mark.npm


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the tools and the document."""
    folder = tmp_path_factory.mktemp("tools") / "npm"
    shutil.copytree(TOOLS, folder, ignore=shutil.ignore_patterns("node_modules"))
    run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], folder)
    (folder / "openapi.json").write_text(json.dumps(document()))
    return folder


def run(command: list[str], folder: Path) -> None:
    ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    assert ran.returncode == 0, ran.stdout[-4000:] + ran.stderr[-4000:]


def test_redocly_finds_no_errors(tools: Path) -> None:
    run(["npx", "redocly", "lint", "openapi.json"], tools)


def test_generated_types_compile(tools: Path) -> None:
    run(["npx", "openapi-typescript", "openapi.json", "--output", "generated/schema.d.ts"], tools)
    assert [file.name for file in (tools / "generated").iterdir()] == ["schema.d.ts"]
    run(["npx", "tsc", "--project", "."], tools)
