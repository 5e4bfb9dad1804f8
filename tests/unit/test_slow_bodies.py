"""Bodies that come slowly: how many threads wait for them, and when their connections are ended."""

import contextlib
import io
import socket
import threading
import time
from collections.abc import Iterator

import pytest

from api import slow_bodies
from api.problems import Problem
from api.slow_bodies import Body, Readers


@contextlib.contextmanager
def connected() -> Iterator[tuple[socket.socket, socket.socket, dict[str, str]]]:
    """A client, the server's side of its connection, and what the server tells of the request."""
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as client:
        accepted, peer = server.accept()
        with accepted:
            client.settimeout(10)
            yield client, accepted, {"REMOTE_ADDR": peer[0], "SERVER_PORT": str(server.getsockname()[1])}


def waiting(readers: Readers, environ: dict[str, str], since: float) -> Body:
    """A body of which a piece has been awaited for some seconds."""
    body = Body(io.BytesIO(), readers, environ)
    readers.begin(body)
    body.since = time.monotonic() - since
    return body


def test_it_works() -> None:
    readers = Readers()
    body = Body(io.BytesIO(b"abc"), readers, {})
    assert (body.read(2), body.read(), body.read()) == (b"ab", b"c", b"")
    assert readers.end_slow() == 0


def test_a_connection_on_which_a_body_is_awaited_too_long_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slow_bodies, "PATIENCE", 0.2)
    readers = Readers()
    with connected() as (client, _, environ):
        waiting(readers, environ, 0.1)
        assert readers.end_slow() == 0
        waiting(readers, environ, 0.5)
        deadline = time.monotonic() + 10
        while not readers.end_slow():
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert client.recv(1) == b""


def test_others_of_the_address_that_get_answers_are_left_alone() -> None:
    readers = Readers()
    with connected() as (client, accepted, environ):
        waiting(readers, environ, 1000)
        accepted.sendall(b"x")
        assert readers.end_slow() == 0
        assert client.recv(1) == b"x"


def test_other_addresses_and_ports_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slow_bodies, "PATIENCE", 0.0)
    readers = Readers()
    with connected() as (_, _, environ):
        waiting(readers, {**environ, "REMOTE_ADDR": "192.0.2.1"}, 10)
        waiting(readers, {**environ, "SERVER_PORT": "1"}, 10)
        assert readers.end_slow() == 0


def test_no_more_threads_wait_than_may(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slow_bodies, "MOST", 2)
    readers = Readers()
    first = waiting(readers, {}, 0)
    waiting(readers, {}, 0)
    with pytest.raises(Problem) as refused:
        Body(io.BytesIO(b"abc"), readers, {}).read()
    assert (refused.value.code, refused.value.headers["Retry-After"]) == ("unavailable", "1")
    later = threading.Timer(0.01, readers.end, [first])
    later.start()
    monkeypatch.setattr(slow_bodies, "WAIT", 10.0)
    assert Body(io.BytesIO(b"abc"), readers, {}).read() == b"abc"


def test_in_a_crowd_nobody_is_waited_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slow_bodies, "MOST", 2)
    monkeypatch.setattr(slow_bodies, "CROWDED", 0.0)
    readers = Readers()
    with connected() as (_, _, environ):
        waiting(readers, environ, 1)
        assert readers.end_slow() == 0
        waiting(readers, environ, 1)
        assert readers.end_slow() == 1
