"""The SMPP driver over TLS: the carrier's certificate is always checked."""

import contextlib
import shutil
import socket
import ssl
import subprocess
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from bulksms.smsc.server import Smsc, running
from bulksms.smsc.settings import SmscSettings
from tests.harness.house import wait_until
from tests.unit.carriers.smpp.making import KeptInbox, config, message_group
from worker.carriers.base import ResponseKind
from worker.carriers.smpp import SmppCarrier

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the certificate")
PATIENCE = 60.0


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for 127.0.0.1 and its key, in one file."""
    folder = tmp_path_factory.mktemp("tls")
    options = ["-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=smsc"]
    options += ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", "key.pem", "-out", "cert.pem"]
    subprocess.run(["openssl", "req", *options], cwd=folder, check=True, capture_output=True)
    return folder


@contextlib.contextmanager
def behind_tls(smsc: Smsc, certificate: Path) -> Iterator[int]:
    """A port at which the SMSC is reached over TLS."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate / "cert.pem", certificate / "key.pem")
    stop = threading.Event()

    def serve(listening: socket.socket) -> None:
        while not stop.is_set():
            with contextlib.suppress(OSError):
                raw, _ = listening.accept()
                relay(context.wrap_socket(raw, server_side=True), smsc.port, stop)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(0.1)
        thread = threading.Thread(target=serve, args=(listening,))
        thread.start()
        try:
            yield listening.getsockname()[1]
        finally:
            stop.set()
            thread.join(PATIENCE)


def relay(outer: ssl.SSLSocket, port: int, stop: threading.Event) -> None:
    """Carry octets both ways, in one thread, until one side ends."""
    with outer, socket.create_connection(("127.0.0.1", port)) as inner:
        outer.settimeout(0.002)
        inner.settimeout(0.002)
        while not stop.is_set():
            for source, target in ((outer, inner), (inner, outer)):
                try:
                    data = source.recv(65_536)
                except TimeoutError:
                    continue
                if not data:
                    return
                target.settimeout(PATIENCE)
                target.sendall(data)
                target.settimeout(0.002)


def test_it_works(certificate: Path) -> None:
    inbox = KeptInbox()
    with running(SmscSettings(port=0, receipt_delay=0)) as smsc, behind_tls(smsc, certificate) as port:
        carrier = SmppCarrier(
            config(port=port, tls=True, tls_ca=str(certificate / "cert.pem"), window=1000, response_timeout=PATIENCE)
        )
        carrier.open(inbox)
        try:
            wait_until(lambda: carrier.trouble is None, PATIENCE, "the bind")
            for number in range(3):
                phones = [f"254{number}{index:08d}" for index in range(1000)]
                outcomes = carrier.submit([message_group("x" * 160, phones)])
                assert Counter(outcome.response for outcome in outcomes) == {ResponseKind.ACCEPTED: 1000}
            wait_until(lambda: len(inbox.receipts) >= 3000, PATIENCE, "the receipts")
        finally:
            carrier.close()


def test_an_untrusted_certificate_is_refused(certificate: Path) -> None:
    with running(SmscSettings(port=0)) as smsc, behind_tls(smsc, certificate) as port:
        carrier = SmppCarrier(config(port=port, tls=True))
        carrier.open(KeptInbox())
        try:
            refused = "CERTIFICATE_VERIFY_FAILED"
            wait_until(lambda: refused in (carrier.trouble or ""), PATIENCE, "the refusal")
            assert smsc.records.counts.binds == 0
        finally:
            carrier.close()
