"""The simulated SMSC: as a command, and to clients that are wrong."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from bulksms.local.ports import free_port
from bulksms.smsc.server import Smsc, running
from bulksms.smsc.settings import SmscSettings
from shared.carriers.smpp.constants import Command, Status
from shared.carriers.smpp.pdu import pdu
from tests.harness.fetch import fetch
from tests.harness.house import wait_until
from tests.harness.response_timeout import submit_until
from tests.unit.carriers.smpp.making import KeptInbox, config, message_group
from worker.carriers.smpp import SmppCarrier

PATIENCE = 60.0


@pytest.fixture
def smsc() -> Iterator[Smsc]:
    with running(SmscSettings(port=0, receipt_delay=0.05, system_id="me", password="secret")) as server:
        yield server


def test_the_command_keeps_a_journal_and_counts(tmp_path: Path) -> None:
    port, stats_port = free_port(), free_port()
    journal = tmp_path / "journal"
    command = "from bulksms.cli import main; main()"
    options = ["smsc", "--port", str(port), "--stats-port", str(stats_port), "--journal", str(journal)]
    process = subprocess.Popen(
        [sys.executable, "-c", command, *options, "--message-id-tag", "0x1400", "--receipt-delay", "0"],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(Path.cwd())},
        text=True,
    )
    try:
        group = message_group("Hi", ["254711000000", "99902000000", "99905000000"])
        carrier = SmppCarrier(config(port=port, message_id_tag=0x1400, response_timeout=PATIENCE))
        wait_for_port(port)
        carrier.open(KeptInbox())
        wait_until(lambda: carrier.trouble is None, PATIENCE, "the bind")
        (link,) = carrier._links
        session = link._session
        assert session is not None
        submit_until(lambda: session.windows.unanswered() == 1, carrier, group)  # one of the three has no response
        carrier.close()
        counts = json.loads(fetch(stats_port, "/").text)
        assert (counts["submits"], counts["accepted"], counts["lost"], counts["refused"]) == (3, 1, 1, 1)
        assert speak(stats_port, {"phone": "254711000000", "recipient": "ACME", "message": "x" * 200}) == 200
        assert speak(stats_port, {"phone": "254711000000"}) == 400
        process.send_signal(signal.SIGINT)
        output = process.communicate(timeout=PATIENCE)[0]
        assert process.returncode == 0
        assert "accepted  1\n" in output
    finally:
        process.kill()
        process.wait()
    lines = [line.split("\t") for line in journal.read_text().splitlines()]
    assert [(line[1], line[2], line[7]) for line in lines] == [
        ("254711000000", "ACME", "accepted"),
        ("99902000000", "ACME", "ESME_RINVDSTADR"),
        ("99905000000", "ACME", "lost"),
    ]
    assert [line[8] for line in lines] == [identity.hex for identity in group.ids]
    assert len({line[3] for line in lines}) == 1


def speak(port: int, parameters: dict[str, str]) -> int:
    return fetch(port, "/inbound", "POST", json.dumps(parameters)).status


def wait_for_port(port: int) -> None:
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            assert time.monotonic() < deadline
            time.sleep(0.05)


@pytest.mark.parametrize("octets", [b"\0\0\0\4\0\0\0\4" * 4, b"\xff" * 40, b"GET / HTTP/1.1\r\n\r\n"])
def test_a_client_that_talks_nonsense_is_left(smsc: Smsc, octets: bytes) -> None:
    with socket.create_connection(("127.0.0.1", smsc.port), PATIENCE) as client:
        client.sendall(octets)
        with contextlib.suppress(ConnectionResetError):
            sequence = int.from_bytes(octets[12:16], "big")
            assert client.recv(100) == pdu(Command.GENERIC_NACK, Status.ESME_RINVCMDLEN, sequence)
            assert client.recv(100) == b""
