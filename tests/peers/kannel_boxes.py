"""Kannel's bearerbox and smsbox as processes."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bulksms.local.ports import free_port, is_listening
from tests.harness.house import wait_until

PATIENCE = 60.0
CORE = """
group = core
admin-port = {admin}
admin-password = peer
smsbox-port = {smsbox}
box-allow-ip = 127.0.0.1
log-level = 4

{carrier}

group = smsbox
bearerbox-host = 127.0.0.1
sendsms-port = {http}
log-level = 4

group = sendsms-user
username = foo
password = bar
concatenation = true
max-messages = 10
"""


@contextmanager
def boxes(folder: Path, carrier: str) -> Iterator[str]:
    """Both boxes with this group of a carrier. The value is the URL of `sendsms`."""
    http = free_port()
    file = folder / "kannel.conf"
    ports = {"admin": free_port(), "smsbox": free_port(), "http": http}
    file.write_text(CORE.format(carrier=carrier, **ports))
    processes: list[subprocess.Popen[bytes]] = []
    try:
        for name, port in (("bearerbox", ports["smsbox"]), ("smsbox", http)):
            command = [name, "-v", "4", str(file)]
            processes.append(
                subprocess.Popen(command, cwd=folder, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
            )
            wait_until(lambda port=port: is_listening(port), PATIENCE, name)
        yield f"http://127.0.0.1:{http}/cgi-bin/sendsms"
    finally:
        for process in reversed(processes):
            process.kill()
            process.wait(PATIENCE)
