"""The pytest plugin for other projects, as they have it: installed from wheels, and with an `api` of their own."""

import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[3]
WHEEL = ("api", "worker", "shared", "bulksms", "pyproject.toml", "README.md", "LICENSE", "NOTICE")
OWN_API = "NAME = 'the project of a customer'\n"

TEST = """
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import api
import pytest
from bulksms_client import Client

@pytest.fixture
def client(bulksms):
    with Client(bulksms.base_url, bulksms.api_key, bulksms.api_secret) as made:
        yield made

def test_the_project_keeps_its_own_api():
    assert api.NAME == "the project of a customer"

def test_sent_messages_and_their_receipts_are_shown(bulksms, client):
    bulksms.fail("254711000002")
    many = client.send_bulk("ACME", ["254711000001", "254711000002"], "Hi")
    assert [(each["phone"], each["text"], each["status"]) for each in bulksms.sent()] == [
        ("254711000001", "Hi", "sent"), ("254711000002", "Hi", "sent")
    ]
    assert bulksms.deliver_receipts() == 2
    assert [each["status"] for each in bulksms.sent()] == ["delivered", "undelivered"]
    assert bulksms.sent()[1]["error"]["code"] == "absent_subscriber"
    client.send("ACME", "254711000003", "Left for nobody")

def test_the_next_test_finds_a_new_account(bulksms, client):
    assert (bulksms.sent(), client.balance().balance) == ([], 1_000)
    client.send("ACME", "254711000002", "Hi")
    assert bulksms.deliver_receipts() == 1
    assert [each["status"] for each in bulksms.sent()] == ["delivered"]

def test_events_are_posted_to_webhooks(client):
    came = threading.Event()

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(200)
            self.end_headers()
            came.set()

    with HTTPServer(("127.0.0.1", 0), Receiver) as receiver:
        threading.Thread(target=receiver.serve_forever, daemon=True).start()
        client.request("POST", "/webhooks", body={"url": f"http://127.0.0.1:{receiver.server_port}/"})
        client.send("ACME", "254711000001", "Hi")
        assert came.wait(60)
        receiver.shutdown()
"""


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The wheels of the service and of the client, built from copies: a build leaves files in the folder."""
    folder = tmp_path_factory.mktemp("wheels")
    for name in WHEEL:
        copied = ROOT / name
        if copied.is_dir():
            shutil.copytree(copied, folder / "service" / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(copied, folder / "service" / name)
    shutil.copytree(ROOT / "clients/python", folder / "client", ignore=shutil.ignore_patterns("*.egg-info", "build"))
    pip("wheel", "--no-deps", "--no-build-isolation", "-w", folder / "built", folder / "service", folder / "client")
    (service,) = (folder / "built").glob("bulksms-*.whl")
    (client,) = (folder / "built").glob("bulksms_client-*.whl")
    return service, client


def pip(*arguments: str | Path) -> None:
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", *arguments]
    ran = subprocess.run([*command, "--no-index"], capture_output=True, text=True, timeout=300, check=False)
    assert ran.returncode == 0, ran.stderr


def new_environment(folder: Path, *wheels: Path) -> tuple[Path, Path]:
    """A virtual environment with the wheels, and with the packages of others that this one has. Its Python, its site.

    A folder that a .pth file names is searched, but its own .pth files, and so this checkout, are not read.
    """
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True, timeout=120)
    (site,) = folder.glob("lib/python*/site-packages")
    pip("install", "--no-deps", "--target", site, *wheels)
    (site / "others.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return folder / "bin" / "python", site


def run_project(python: Path, folder: Path) -> str:
    (folder / "conftest.py").write_text('pytest_plugins = ["bulksms_client.testing"]\n')
    (folder / "test_project.py").write_text(TEST)
    ran = subprocess.run(
        [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "error", folder],
        cwd=folder,
        env={"PATH": "/usr/bin:/bin", "http_proxy": "http://127.0.0.1:9", "no_proxy": "127.0.0.1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    return ran.stdout + ran.stderr


@pytest.fixture(scope="module")
def of_project(wheels: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of a project that has the client and an `api` of its own, but not the service."""
    python, site = new_environment(tmp_path_factory.mktemp("environment"), wheels[1])
    (site / "api").mkdir()
    (site / "api" / "__init__.py").write_text(OWN_API)
    return python


def test_in_an_environment_of_its_own(of_project: Path, wheels: tuple[Path, Path], tmp_path: Path) -> None:
    of_service, _ = new_environment(tmp_path / "service", wheels[0])
    project = tmp_path / "project"
    project.mkdir()
    (project / "pytest.ini").write_text(f"[pytest]\nbulksms_python = {of_service}\n")
    output = run_project(of_project, project)
    assert "4 passed" in output, output


def test_without_the_service_it_suggests_what_to_install(of_project: Path, tmp_path: Path) -> None:
    output = run_project(of_project, tmp_path)
    assert "pip install '/path/to/bulksms[testing]'" in output
    assert "1 passed" in output, output
