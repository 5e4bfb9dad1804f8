"""The proxy itself: each fault does what it says, and nothing else."""

import contextlib
import socket
import threading
import time
from collections.abc import Iterator
from types import SimpleNamespace

import pytest

from bulksms.local.ports import LOOPBACK
from tests.faults.proxy import Proxy
from tests.harness.house import wait_until


class Echo:
    """A server that sends back what it gets, and remembers it."""

    def __init__(self) -> None:
        self.listener = socket.create_server((LOOPBACK, 0))
        self.port = self.listener.getsockname()[1]
        self.got = b""
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End, and the thread too: it would go on with whatever socket gets the number of this one."""
        self.listener.shutdown(socket.SHUT_RDWR)
        self._thread.join(30)
        self.listener.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self.listener.accept()
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with contextlib.suppress(OSError), connection:
            while data := connection.recv(1000):
                self.got += data
                connection.sendall(data)


@pytest.fixture
def echo() -> Iterator[Echo]:
    server = Echo()
    yield server
    server.close()


@pytest.fixture
def proxy(echo: Echo) -> Iterator[Proxy]:
    with Proxy(echo.port) as made:
        yield made


@contextlib.contextmanager
def connected(proxy: Proxy) -> Iterator[socket.socket]:
    with socket.create_connection((LOOPBACK, proxy.port), 30) as client:
        yield client


def echo_of(client: socket.socket, text: bytes) -> bytes:
    client.sendall(text)
    return client.recv(1000)


def is_cut(client: socket.socket) -> bool:
    try:
        client.sendall(b"more")
        return client.recv(1000) == b""
    except ConnectionError:
        return True


def test_it_works(proxy: Proxy) -> None:
    with connected(proxy) as client:
        assert echo_of(client, b"hello") == b"hello"
        assert proxy.connections == 1
    wait_until(lambda: proxy.connections == 0, 30, "the end of the connection")


def test_latency_delays_each_direction(proxy: Proxy) -> None:
    with connected(proxy) as client:
        proxy.latency = 0.2
        began = time.monotonic()
        assert echo_of(client, b"slow") == b"slow"
        assert time.monotonic() - began >= 0.4


def test_a_cut_resets_open_connections_and_lets_new_ones_in(proxy: Proxy) -> None:
    with connected(proxy) as client:
        assert echo_of(client, b"one") == b"one"
        proxy.cut()
        assert is_cut(client)
    with connected(proxy) as client:
        assert echo_of(client, b"two") == b"two"


def test_refusing(proxy: Proxy) -> None:
    proxy.refusing = True
    with contextlib.suppress(ConnectionError), connected(proxy) as client:  # a reset may come while it connects
        assert is_cut(client)
    proxy.heal()
    with connected(proxy) as client:
        assert echo_of(client, b"again") == b"again"


def test_a_blackhole_silently_drops_everything(proxy: Proxy, echo: Echo) -> None:
    with connected(proxy) as client:
        assert echo_of(client, b"before") == b"before"
        client.settimeout(0.5)
        proxy.blackhole = True
        with pytest.raises(TimeoutError):
            echo_of(client, b"lost")
        wait_until(lambda: all(link.swallowed for link in proxy._links), 30, "the loss")
        proxy.heal()
        with pytest.raises(TimeoutError):
            echo_of(client, b"lost too")
        assert proxy.connections == 1
    with connected(proxy) as client:
        assert echo_of(client, b"new") == b"new"
    assert echo.got == b"beforenew"


def test_half_open_connections_are_dead_and_new_ones_live(proxy: Proxy) -> None:
    with connected(proxy) as old, connected(proxy) as other:
        assert echo_of(old, b"x") == b"x"
        old.settimeout(0.5)
        proxy.half_open()
        with connected(proxy) as new:
            assert echo_of(new, b"y") == b"y"
        with pytest.raises(TimeoutError):
            echo_of(old, b"x")
        assert other.fileno() > 0


@pytest.mark.parametrize("delivered", [True, False])
def test_a_cut_at_a_pattern(proxy: Proxy, echo: Echo, delivered: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = b"BEGINCOMMIT" if delivered else b"BEGIN"

    def until_it_is_read(_: float) -> None:
        wait_until(lambda: echo.got == expected, 30, "what the server reads before the cut")

    monkeypatch.setattr("tests.faults.proxy.time", SimpleNamespace(sleep=until_it_is_read))
    proxy.cut_at(b"COMMIT", delivered=delivered)
    with connected(proxy) as client:
        assert echo_of(client, b"BEGIN") == b"BEGIN"
        client.sendall(b"COMMIT")
        wait_until(lambda: proxy.cuts == 1, 30, "the cut")
        with contextlib.suppress(ConnectionError):
            while client.recv(1000):
                pass
    assert echo.got == expected
    proxy.heal()
    with connected(proxy) as client:
        assert echo_of(client, b"COMMIT") == b"COMMIT"


def test_corruption_changes_one_byte_of_what_the_server_says(proxy: Proxy, echo: Echo) -> None:
    proxy.corruption = 1.0
    with connected(proxy) as client:
        response = echo_of(client, b"abcdef")
    assert echo.got == b"abcdef"
    assert sum(a != b for a, b in zip(response, b"abcdef", strict=True)) == 1
