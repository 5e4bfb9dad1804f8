"""The service's processes under the system call filters of deploy/systemd."""

import shutil
import sys
from collections.abc import Iterator
from ctypes.util import find_library
from pathlib import Path

import pytest

from bench.browser import Browser
from bulksms.local import services
from bulksms.local.command import Command
from bulksms.local.ports import free_port
from tests.harness.console import CONSOLE_KEY
from tests.harness.house import STEADY, WORKERS_EVER, House, wait_until
from tests.harness.people import PASSWORD, a_member
from tests.harness.servers import START_SECONDS

SECCOMP = Path("/proc/sys/kernel/seccomp/actions_avail")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        shutil.which("systemd-analyze") is None or find_library("seccomp") is None or not SECCOMP.exists(),
        reason="systemd-analyze or libseccomp is not installed, or the kernel has no seccomp",
    ),
]
UNITS = Path("deploy/systemd").resolve()


def confined(command: Command, unit: str) -> Command:
    """The command, under the filter of a unit, started."""
    command.command = [sys.executable, "-m", "tests.harness.confined", str(UNITS / unit), *command.command]
    command.launch()
    return command


@pytest.fixture(name="service", scope="module")
def _service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    made = House(
        tmp_path_factory.mktemp("house"), TRUSTED_PROXIES="127.0.0.1/32", CONSOLE_SECRET_KEY=CONSOLE_KEY, **STEADY
    )
    try:
        home = Path.cwd()
        made.api = confined(services.api(made.port, made.env, made.folder, home), "bulksms-api@.service")
        made.workers.append(confined(services.worker(1, made.env, made.folder, home), "bulksms-worker@.service"))
        made.webhooks.append(confined(services.webhooks(made.env, made.folder, home), "bulksms-webhooks.service"))
        made.api.wait_ready(START_SECONDS)
        wait_until(lambda: made.scalar(WORKERS_EVER), 90, "the worker")
        yield made
    finally:
        made.stop()


def test_the_database_is_migrated(service: House) -> None:
    migrate = confined(services.migrate(service.env, service.folder, Path.cwd()), "bulksms-migrate.service")
    wait_until(lambda: migrate.exit_code() is not None, 60, "the migration")
    assert migrate.exit_code() == 0, migrate.log_file.read_text()


def test_a_message_is_delivered(service: House) -> None:
    service.new_account()
    send = service.post("/sms/send", sender_id="ACME", phone="254711000001", message="Hi")["send_id"]
    wait_until(lambda: service.get(f"/sends/{send}")["counts"]["delivered"], 60, "the receipt")
    assert service.webhooks[0].exit_code() is None


def test_a_person_signs_in_at_the_console(service: House) -> None:
    account = service.new_account("people")
    _, email = service.transact(a_member, account)
    port = free_port()
    console = services.console(port, service.port, service.env, service.folder, Path.cwd())
    confined(console, "bulksms-console.service")
    browser = Browser(port)
    try:
        console.wait_ready(START_SECONDS)
        browser.sign_in(email, PASSWORD)
        assert "Ann Otieno" in browser.get(f"/accounts/{account}/live/")[1]
    finally:
        browser.close()
        console.stop()
