"""The SMPP server as a process: killed, stopped, and over TLS."""

import os
import signal
import ssl
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from select import select

import pytest

from bulksms.local import services
from bulksms.local.command import Command as Process
from bulksms.local.ports import free_port
from shared.carriers.smpp.constants import Command, Status
from tests.harness.house import House, house, wait_until
from tests.harness.smpp import Closed, SmppClient
from tests.harness.smpp_customer import new_credential

PATIENCE = 120.0


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    folder = tmp_path_factory.mktemp("house")
    folder.chmod(0o755)
    with house(folder, workers=1) as running:
        yield running


def started(service: House, port: int) -> Process:
    process = services.smpp(port, service.env, service.folder, Path.cwd())
    process.launch()
    process.wait_ready(PATIENCE)
    return process


def test_after_a_kill_only_what_was_not_answered_comes_again(service: House) -> None:
    """A bind at each of two processes: one of them has the lease and delivers, until it is killed. The other one goes
    on, until it is stopped."""
    ports = [free_port(), free_port()]
    account, credential = new_credential(service.engine, f"two-{ports[0]}")
    delivered = f"SELECT count(*) FROM event WHERE account_id = {account} AND type = 'message.delivered'"
    recorded = f"SELECT updated_at FROM smpp_credential WHERE system_id = '{credential.system_id}'"
    processes = [started(service, port) for port in ports]
    clients = [SmppClient(port) for port in ports]
    sender = SmppClient(ports[1])
    assert sender.bind(credential, Command.BIND_TRANSMITTER).status == Status.ESME_ROK
    ids = [sender.submit().message_id for _ in range(8)]
    wait_until(lambda: service.scalar(delivered) == 8, PATIENCE, "the receipts, so that they are one page")
    for client in clients:
        assert client.bind(credential, Command.BIND_RECEIVER).status == Status.ESME_ROK
    [holding] = select([client.socket for client in clients], [], [], PATIENCE)[0]
    holder = 0 if holding is clients[0].socket else 1
    for _ in range(5):
        clients[holder].delivery()
    unanswered = [clients[holder].delivery(None).receipt["id"] for _ in range(3)]
    for _ in range(2):  # the first one may have begun before the answers
        before = service.scalar(recorded)
        wait_until(lambda before=before: service.scalar(recorded) > before, PATIENCE, "the next position")
    pid = processes[holder].pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    with pytest.raises(Closed):
        clients[holder].read(Command.BIND_RECEIVER)
    other = clients[1 - holder]
    assert [other.delivery().receipt["id"] for _ in range(3)] == unanswered
    assert set(unanswered) < set(ids)
    other.socket.settimeout(3)
    with pytest.raises(TimeoutError):
        other.read(Command.DELIVER_SM)
    other.socket.settimeout(PATIENCE)
    processes[1 - holder].ask_to_stop()
    assert other.read(Command.UNBIND).status == Status.ESME_ROK
    for process in processes:
        process.stop()
    for client in (*clients, sender):
        client.stop()


def test_over_tls(service: House, tmp_path: Path) -> None:
    credential = new_credential(service.engine, "tls")[1]
    options = ["-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=smpp", "-keyout", "key.pem"]
    options += ["-addext", "subjectAltName=IP:127.0.0.1", "-out", "cert.pem"]
    subprocess.run(["openssl", "req", *options], cwd=tmp_path, check=True, capture_output=True)
    port, files = free_port(), ["--certificate", str(tmp_path / "cert.pem"), "--key", str(tmp_path / "key.pem")]
    command = [sys.executable, "-m", "api.smpp", "--port", str(port), *files]
    with Process("smpp-tls", command, service.env, tmp_path / "smpp.log", Path.cwd()) as process:
        process.launch()
        context = ssl.create_default_context(cafile=str(tmp_path / "cert.pem"))
        clients: list[SmppClient] = []

        def is_bound() -> bool:
            try:
                clients.append(SmppClient(port, context))
            except OSError:
                return False
            return clients[-1].bind(credential).status == Status.ESME_ROK

        wait_until(is_bound, PATIENCE, "the bind")
        assert clients[-1].submit().status == Status.ESME_ROK
        for client in clients:
            client.stop()
