"""HTTP/2, where the carrier offers it: many requests at a time over one connection, and what is lost is in doubt."""

import contextlib
import json
import shutil
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import h2.config
import h2.connection
import h2.events
import pytest

from tests.harness.http_carrier import PATIENCE
from tests.services.carriers.http_pair import PHONE, carrier, declared
from tests.unit.carriers.smpp.making import message_group
from worker.carriers.base import ResponseKind

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the certificate")


@dataclass
class Two:
    """A server that speaks nothing but HTTP/2, over TLS."""

    folder: Path
    together: int
    """Requests that must be there at the same time before any is answered."""
    hang_up: bool = False
    """Instead of a response."""
    connections: int = 0
    streams: list[int] = field(default_factory=list)

    @contextlib.contextmanager
    def running(self) -> Iterator[int]:
        """Its port, for the length of a block."""
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(self.folder / "cert.pem", self.folder / "key.pem")
        context.set_alpn_protocols(["h2"])
        with socket.create_server(("127.0.0.1", 0)) as listening:
            listening.settimeout(PATIENCE)
            thread = threading.Thread(target=self._accept, args=(listening, context), daemon=True)
            thread.start()
            yield listening.getsockname()[1]
        thread.join(PATIENCE)

    def _accept(self, listening: socket.socket, context: ssl.SSLContext) -> None:
        with contextlib.suppress(OSError):
            raw, _ = listening.accept()
            self.connections += 1
            with context.wrap_socket(raw, server_side=True) as client:
                client.settimeout(PATIENCE)
                self._serve(client)

    def _serve(self, client: ssl.SSLSocket) -> None:
        connection = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False))
        connection.initiate_connection()
        client.sendall(connection.data_to_send())
        waiting: list[int] = []
        while data := client.recv(65_536):
            for event in connection.receive_data(data):
                if isinstance(event, h2.events.DataReceived):
                    connection.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
                elif isinstance(event, h2.events.StreamEnded):
                    waiting.append(event.stream_id)
                    self.streams.append(event.stream_id)
            if len(waiting) >= self.together and self.hang_up:
                return
            if len(waiting) >= self.together:
                for stream in waiting:
                    connection.send_headers(stream, [(":status", "200"), ("content-type", "application/json")])
                    connection.send_data(stream, json.dumps({"id": f"s{stream}"}).encode(), end_stream=True)
                waiting.clear()
            client.sendall(connection.data_to_send())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for 127.0.0.1, and its key."""
    made = tmp_path_factory.mktemp("two")
    options = ["-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=web"]
    options += ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", "key.pem", "-out", "cert.pem"]
    subprocess.run(["openssl", "req", *options], cwd=made, check=True, capture_output=True)
    return made


def test_many_requests_share_a_connection(folder: Path) -> None:
    server = Two(folder, together=5)
    with server.running() as port:
        config = declared(
            f"https://127.0.0.1:{port}/",
            tls_ca=str(folder / "cert.pem"),
            window=5,
            answer_time=PATIENCE,
            connect_time=PATIENCE,
        )
        with carrier(config) as made:
            outcomes = made.submit([message_group("x", [PHONE] * 5)])
        assert sorted(str(each.reference) for each in outcomes) == sorted(f"s{stream}" for stream in server.streams)
    assert (server.connections, len(server.streams)) == (1, 5)


def test_a_connection_lost_leaves_all_that_it_carried_in_doubt(folder: Path) -> None:
    server = Two(folder, together=3, hang_up=True)
    with server.running() as port:
        config = declared(
            f"https://127.0.0.1:{port}/", tls_ca=str(folder / "cert.pem"), window=3, connect_time=PATIENCE
        )
        with carrier(config) as made:
            outcomes = made.submit([message_group("x", [PHONE] * 3)])
    assert [(each.response, each.error) for each in outcomes] == [(ResponseKind.IN_DOUBT, "no_answer")] * 3
