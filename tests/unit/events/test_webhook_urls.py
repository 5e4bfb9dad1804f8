"""Hostile addresses of webhooks: none is posted to, whether it is refused as it is written or when it is resolved."""

import asyncio
import socket
import threading
from collections.abc import Iterator
from ipaddress import ip_address
from typing import Any

import pytest

from shared.events.webhook_urls import address_problem, url_problem
from shared.retry_after import retry_after
from tests.unit.webhooks.conftest import patience as patience
from tests.unit.webhooks.resolving import Answers
from worker.webhooks import client
from worker.webhooks.client import Client, Reply

AS_WRITTEN = [
    "http://example.com/",
    "ftp://example.com/",
    "file:///etc/passwd",
    "gopher://example.com:443/",
    "//example.com/",
    "https://",
    "https://localhost/",
    "https://localhost./",
    "https://127.0.0.1/",
    "https://127.1/",
    "https://127.0.0.1./",
    "https://0/",
    "https://0.0.0.0/",
    "https://2130706433/",
    "https://0x7f000001/",
    "https://0177.0.0.1/",
    "https://0x7f.0x0.0x0.0x1/",
    "https://[::1]/",
    "https://[::]/",
    "https://[::ffff:127.0.0.1]/",
    "https://[::ffff:7f00:1]/",
    "https://[::127.0.0.1]/",
    "https://[64:ff9b::7f00:1]/",
    "https://[64:ff9b:1::7f00:1]/",
    "https://[2002:7f00:1::]/",
    "https://[2001:0:7f00:1::]/",
    "https://[fe80::1]/",
    "https://[fe80::1%25eth0]/",
    "https://[fd00:ec2::254]/",
    "https://[ff02::1]/",
    "https://10.0.0.1/",
    "https://172.16.0.1/",
    "https://192.168.1.1/",
    "https://169.254.169.254/latest/meta-data/",
    "https://100.64.0.1/",
    "https://224.0.0.1/",
    "https://255.255.255.255/",
    "https://192.88.99.1/",
    "https://metadata/",
    "https://metadata.google.internal/",
    "https://printer.local/",
    "https://example.com:22/",
    "https://example.com:99999/",
    "https://user:secret@example.com/",
    "https://example.com@127.0.0.1/",
    "https://example.com\\@127.0.0.1/",
    "https://127.0.0.1#@example.com/",
    "https://①②⑦.⓪.⓪.①/",
    "https://127。0。0。1/",
    "https://exa mple.com/",
    "https://example.com/\r\nX-Evil: 1",
    "https://%31%32%37.0.0.1/",
    "https://example.com/" + "a" * 3000,
]
RESOLVED = [
    "127.0.0.1",
    "127.8.8.8",
    "0.0.0.0",
    "10.1.2.3",
    "172.31.255.255",
    "192.168.0.10",
    "169.254.169.254",
    "168.63.129.16",
    "100.100.100.200",
    "198.18.0.1",
    "192.0.0.8",
    "224.0.0.251",
    "240.0.0.1",
    "::1",
    "::ffff:127.0.0.1",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b::808:808",
    "::ffff:8.8.8.8",
    "2002:a9fe:a9fe::",
    "2001:0:4136:e378:8000:63bf:3fff:fdd2",
    "fe80::1",
    "fc00::1",
    "ff0e::1",
    "2001:db8::1",
]
PUBLIC = ["1.1.1.1", "8.8.8.8", "2606:4700:4700::1111", "2a00:1450:4001:82a::200e"]


class Canary:
    """Counts the connections to a port of 127.0.0.1."""

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self._listener.getsockname()[1]
        self.reached = 0
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.reached += 1
            connection.close()

    def close(self) -> None:
        """End, and the thread too: it would go on with whatever socket gets the number of this one."""
        self._listener.shutdown(socket.SHUT_RDWR)
        self._thread.join(60)
        self._listener.close()


@pytest.fixture
def canary() -> Iterator[Canary]:
    made = Canary()
    yield made
    made.close()


def posts(urls: list[str], addresses: list[list[str]], port: int, *, loopback: bool = False) -> list[Reply]:
    """Post to the URLs, names leading to these addresses at one look-up after the other, and always to the port."""

    async def run() -> list[Reply]:
        made = Client(loopback, Answers(lists=addresses, always=port))
        try:
            return [await made.post(url, {}, b"{}") for url in urls]
        finally:
            await made.close()

    return asyncio.run(run())


def post(url: str, addresses: list[list[str]], port: int, *, loopback: bool = False) -> Reply:
    """Post to one URL."""
    return posts([url], addresses, port, loopback=loopback)[0]


def test_it_works(canary: Canary) -> None:
    """The canary does notice: on an installation that posts to its own machine it is reached."""
    assert url_problem("https://example.com/hook?a=b") is None
    assert url_problem("https://xn--bcher-kva.example:8443/") is None
    assert url_problem(f"http://127.0.0.1:{canary.port}/", loopback=True) is None
    assert post(f"http://127.0.0.1:{canary.port}/", [], canary.port, loopback=True).http_status is None
    assert canary.reached == 1


def test_a_hostile_url_is_refused_as_written(canary: Canary) -> None:
    assert len(AS_WRITTEN) >= 40
    assert [url for url in AS_WRITTEN if url_problem(url) is None] == []
    replies = posts(AS_WRITTEN, [["127.0.0.1"]], canary.port)
    assert [reply.http_status for reply in replies] == [None] * len(AS_WRITTEN)
    assert canary.reached == 0


def test_the_second_check_holds_without_the_first(canary: Canary, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "url_problem", lambda *_: None)
    urls = [url for url in AS_WRITTEN if url.startswith("http")]
    urls += [f"http://127.0.0.1:{canary.port}/", f"http://[::ffff:127.0.0.1]:{canary.port}/"]
    replies = posts(urls, [["127.0.0.1"]], canary.port)
    assert [reply.http_status for reply in replies] == [None] * len(urls)
    assert canary.reached == 0


def test_a_name_that_leads_to_such_an_address_is_refused(canary: Canary) -> None:
    assert [address for address in RESOLVED if address_problem(ip_address(address)) is None] == []
    replies = posts(["https://rebind.example/"] * len(RESOLVED), [[address] for address in RESOLVED], canary.port)
    assert all("public" in str(reply.error) for reply in replies)
    assert canary.reached == 0


@pytest.mark.parametrize("address", PUBLIC)
def test_a_public_address_is_allowed(address: str) -> None:
    assert address_problem(ip_address(address)) is None


def test_a_name_that_changes_is_not_asked_twice(canary: Canary, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first look-up is checked, and its address is connected to; a second one, as in rebinding, is never made."""
    reached: list[Any] = []

    def refuse(self: Client, info: tuple[Any, ...]) -> socket.socket:
        reached.append(info[4][0])
        raise OSError("not in a test")

    monkeypatch.setattr(Client, "_socket", refuse)
    assert post("https://rebind.example/", [[PUBLIC[0]], ["127.0.0.1"]], canary.port).http_status is None
    assert reached == [PUBLIC[0]]


def test_the_development_setting_allows_this_machine_and_nothing_else(canary: Canary) -> None:
    assert post(f"http://localhost:{canary.port}/", [["10.0.0.1"]], canary.port, loopback=True).error is not None
    assert "public" in str(post("https://rebind.example/", [["127.0.0.1"]], canary.port, loopback=True).error)
    assert url_problem("https://10.0.0.1/", loopback=True) is not None
    assert url_problem("http://example.com/", loopback=True) is not None
    assert canary.reached == 0


@pytest.mark.parametrize(
    ("value", "seconds"),
    [(None, 0), ("", 0), ("7", 7), ("999999999", 3600), ("-3", 0), ("soon", 0), ("Mon, 01 Jan 2001 00:00:00 GMT", 0)],
)
def test_retry_after_is_read_with_care(value: str | None, seconds: float) -> None:
    assert retry_after(value, 3600) == seconds
