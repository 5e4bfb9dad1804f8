"""The units of deploy/systemd: they start what Procfile starts, confined."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from api.server.process import END_SECONDS, HUNG_SECONDS
from shared.observability.metrics import DIRECTORY
from shared.settings import MAX_LEASE_SECONDS, from_environment
from tests.unit.project.test_readme import of_the_code

FOLDER = Path("deploy/systemd")
UNITS = sorted(path.name for path in FOLDER.glob("*.service"))
ENVIRONMENT = (FOLDER / "bulksms.env.example").read_text()
BASE = ("sysinit.target", "basic.target", "shutdown.target", "network-online.target", "multi-user.target")
ONLY_UNITS = {"BIND", "SMPP_BIND", "SMPP_PORT"}
"""What the units take from the environment, and the service does not."""
MOST_EXPOSED = 20
"""Tenths of the exposure that systemd-analyze computes, from 0 to 10."""


def directives(name: str) -> dict[str, list[str]]:
    """The directives of a unit."""
    found: dict[str, list[str]] = {}
    for key, value in re.findall(r"^(\w+)=(.*)$", (FOLDER / name).read_text(), re.M):
        found.setdefault(key, []).append(value)
    return found


def command(name: str) -> list[str]:
    return directives(name)["ExecStart"][0].removeprefix("/opt/bulksms/.venv/bin/").split()


def test_it_works() -> None:
    assert UNITS == [
        "bulksms-api@.service",
        "bulksms-console.service",
        "bulksms-migrate.service",
        "bulksms-smpp.service",
        "bulksms-webhooks.service",
        "bulksms-worker@.service",
    ]
    started = dict(line.split(": ", 1) for line in Path("Procfile").read_text().splitlines() if line)
    arguments = [word for word in command("bulksms-worker@.service") if word not in ("-n", "worker-%i@%%h")]
    assert arguments == started["worker"].split()
    assert command("bulksms-webhooks.service") == started["webhooks"].split()
    assert command("bulksms-smpp.service")[:3] == started["smpp"].split()[:3]
    assert command("bulksms-api@.service")[:3] == started["api"].split()[:3]
    assert command("bulksms-console.service")[:3] == started["console"].split()[:3]
    assert command("bulksms-console.service")[3:] == ["--host", "${CONSOLE_BIND}", "--port", "${CONSOLE_PORT}"]
    assert command("bulksms-api@.service")[3:] == ["--host", "${BIND}", "--port", "%i"]


@pytest.mark.parametrize("name", UNITS)
def test_the_units_have_few_rights(name: str) -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd is not installed")
    check = [
        "systemd-analyze",
        "security",
        "--offline=true",
        f"--threshold={MOST_EXPOSED}",
        "--no-pager",
        str(FOLDER / name),
    ]
    checked = subprocess.run(check, capture_output=True, text=True, timeout=60, check=False)
    assert checked.returncode == 0, checked.stdout[-300:] + checked.stderr


def test_systemd_reads_them(tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd is not installed")
    binaries, units = tmp_path / "opt/bulksms/.venv/bin", tmp_path / "etc/systemd/system"
    binaries.mkdir(parents=True)
    units.mkdir(parents=True)
    for binary in ("python", "celery", "bulksms"):
        (binaries / binary).write_text("#!/bin/sh\n")
        (binaries / binary).chmod(0o755)
    for base in BASE:
        (units / base).write_text("[Unit]\nDescription=of the system\n")
    for path in (*FOLDER.glob("*.service"), *FOLDER.glob("*.target")):
        shutil.copy(path, units)
    names = [name.replace("@.", "@8000.") for name in UNITS]
    verify = ["systemd-analyze", "verify", f"--root={tmp_path}", *names, "bulksms.target"]
    verified = subprocess.run(verify, capture_output=True, text=True, timeout=60, check=False)
    assert (verified.returncode, verified.stderr) == (0, "")


def test_they_are_given_the_time_to_end() -> None:
    def seconds(name: str) -> float:
        return float(directives(name)["TimeoutStopSec"][0])

    assert seconds("bulksms-api@.service") > END_SECONDS + HUNG_SECONDS
    assert seconds("bulksms-worker@.service") > MAX_LEASE_SECONDS
    for name in UNITS:
        assert directives(name)["KillMode"] == ["mixed"], "only the first process gets the signal, and ends the others"


def test_the_example_names_existing_settings_and_places() -> None:
    values = dict(re.findall(r"^(?:# )?([A-Z_]+)=(.*)$", ENVIRONMENT, re.M))
    assert set(values) <= set(of_the_code()) | ONLY_UNITS | {DIRECTORY}
    set_ = dict(re.findall(r"^([A-Z_]+)=(.*)$", ENVIRONMENT, re.M))
    assert from_environment(set_ | {"SECRET_KEY": "x" * 32}).simulated
    places = directives("bulksms-worker@.service")
    assert set_["GUARD_FILE"].startswith(f"/var/lib/{places['StateDirectory'][0]}/")
    assert set_[DIRECTORY].startswith(f"/run/{places['RuntimeDirectory'][0]}/")
    assert places["RuntimeDirectoryPreserve"] == ["yes"], "the other processes go on counting there"
