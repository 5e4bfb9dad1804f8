"""Receivers cannot send without end, hide an address behind another, set cookies, or do without a certificate."""

import asyncio
import shutil
import socket
import ssl
import subprocess
import threading
from pathlib import Path

import pytest

from tests.harness.what_we_read import table
from tests.unit.webhooks.resolving import Answers
from tests.unit.webhooks.test_client import OK, once, post, serve
from worker.webhooks.client import MAX_BODY_BYTES, CheckedResolver, Client, Forbidden, Reply

BUFFERS = 16 * 1024 * 1024
"""More than what the sockets of both sides may hold."""


def test_a_body_without_end_is_left_after_some_bytes(stop: threading.Event) -> None:
    sent: list[int] = []

    def behave(connection: socket.socket, _: threading.Event) -> None:
        connection.sendall(OK + b"\r\n")
        while sum(sent) < 4 * BUFFERS:
            sent.append(connection.send(b"x" * MAX_BODY_BYTES))

    (reply,) = post([serve(behave, stop)])
    assert reply.http_status == 200
    assert sum(sent) < BUFFERS


@pytest.mark.parametrize("row", table("Addresses of webhooks"))
def test_a_name_is_posted_to_at_its_public_addresses(row: dict[str, str]) -> None:
    resolver = CheckedResolver(False, Answers(*row["Addresses"].split()))
    if row["Posted to"] == "none":
        with pytest.raises(Forbidden):
            asyncio.run(resolver.resolve("example.com"))
    else:
        found = asyncio.run(resolver.resolve("example.com"))
        assert [each["host"] for each in found] == row["Posted to"].split()


@pytest.mark.parametrize("others", [("192.168.0.1",), ("127.0.0.2",), ("192.168.0.1", "127.0.0.2", "127.0.0.3")])
def test_another_address_is_tried_if_one_cannot_be_used(stop: threading.Event, others: tuple[str, ...]) -> None:
    """Nobody listens at the others of this machine. They come before the good one, and after it."""
    url = serve(once(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n"), stop).replace("127.0.0.1", "localhost")

    async def run(*addresses: str) -> Reply:
        made = Client(loopback=True, resolver=Answers(*addresses))
        try:
            return await made.post(url, {}, b"{}")
        finally:
            await made.close()

    replies = [asyncio.run(run(*others, "127.0.0.1")), asyncio.run(run("127.0.0.1", *others))]
    assert [(reply.http_status, reply.error) for reply in replies] == [(204, None)] * 2
    assert asyncio.run(run(*others)).http_status is None


def test_cookies_are_not_sent_back(stop: threading.Event) -> None:
    heads: list[bytes] = []
    listener = socket.create_server(("127.0.0.1", 0))

    def run() -> None:
        with listener:
            for _ in range(2):
                connection, _ = listener.accept()
                with connection:
                    heads.append(connection.recv(65_536))
                    connection.sendall(
                        OK + b"Set-Cookie: a=b; Path=/\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
                    )

    thread = threading.Thread(target=run, daemon=True)
    thread.start()

    async def twice() -> list[Reply]:
        made = Client(loopback=True, resolver=Answers("127.0.0.1"))
        try:
            return [await made.post(f"http://localhost:{listener.getsockname()[1]}/", {}, b"{}") for _ in range(2)]
        finally:
            await made.close()

    assert [reply.http_status for reply in asyncio.run(twice())] == [200, 200]
    thread.join(60)
    assert len(heads) == 2 and not any(b"cookie" in head.lower() for head in heads)


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the certificate")
def test_an_untrusted_certificate_is_refused(tmp_path: Path) -> None:
    options = ["-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    options += ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", "key.pem", "-out", "cert.pem"]
    subprocess.run(["openssl", "req", *options], cwd=tmp_path, check=True, capture_output=True)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(tmp_path / "cert.pem", tmp_path / "key.pem")
    listener = socket.create_server(("127.0.0.1", 0))
    listener.settimeout(60)

    def run() -> None:
        with listener, listener.accept()[0] as plain:
            try:
                with context.wrap_socket(plain, server_side=True) as connection:
                    connection.recv(65_536)
                    connection.sendall(OK + b"Content-Length: 0\r\nConnection: close\r\n\r\n")
            except OSError:
                pass

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    (reply,) = post([f"https://127.0.0.1:{listener.getsockname()[1]}/"])
    thread.join(60)
    assert reply.http_status is None and "certificate" in str(reply.error).lower()
