"""Clients that stall, flood and vanish, each on a socket of its own, against the API as it runs.

Nothing is stored or reserved that was not asked for in full, and nobody else is held up.
"""

import contextlib
import json
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psutil
import pytest
from sqlalchemy import text

from bulksms.local.ports import LOOPBACK
from shared.audit.check import audit
from tests.harness.house import House, a_house, wait_until

pytestmark = pytest.mark.slow
PATIENCE = 60.0
FACTS = text(
    """
    SELECT (SELECT count(*) FROM send) AS sends, (SELECT count(*) FROM batch) AS batches,
           (SELECT count(*) FROM ledger) AS entries, (SELECT count(*) FROM idempotency) AS keys,
           (SELECT available FROM account) AS available, (SELECT reserved FROM account) AS reserved
    """
)


service = a_house(0)


def facts(service: House) -> Any:
    with service.engine.connect() as connection:
        return connection.execute(FACTS).one()


@pytest.fixture
def untouched(service: House) -> Iterator[None]:
    """After the test, nothing is stored or reserved that was not before it, and the service answers."""
    before = facts(service)
    yield
    assert facts(service) == before
    assert service.get("/balance")["balance"] == before.available


def body(phone: int = 254711000000) -> bytes:
    return json.dumps({"sender_id": "ACME", "phone": str(phone), "message": "Hi"}).encode()


def request(service: House, data: bytes) -> bytes:
    """A whole, correct request."""
    lines = [
        "POST /api/v1/sms/send HTTP/1.1",
        "Host: localhost",
        f"Authorization: Bearer {service.token}",
        "Content-Type: application/json",
        f"Content-Length: {len(data)}",
    ]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1") + data


def connect(service: House) -> socket.socket:
    return socket.create_connection((LOOPBACK, service.port), timeout=PATIENCE)


ANSWER_SECONDS = 30.0
"""What a machine under load may take."""
ATTEMPTS = 3
"""A server that has stood still for long ends slow requests when it goes on: then they are begun once more."""


class Answers:
    """What came back on a connection: each response's status, and whether the server closed it."""

    def __init__(self, connection: socket.socket, most: int = 1, seconds: float = PATIENCE) -> None:
        self.statuses: list[int] = []
        self.bodies: list[bytes] = []
        self.closed = False
        connection.settimeout(seconds)
        reader = connection.makefile("rb")
        try:
            while len(self.statuses) < most and self._one(reader):
                pass
        except TimeoutError:
            pass
        except OSError:
            self.closed = True

    def _one(self, reader: Any) -> bool:
        line = reader.readline()
        if not line:
            self.closed = True
            return False
        status, length = int(line.split()[1]), 0
        while (header := reader.readline().strip().lower()) not in (b"", None):
            name, _, value = header.partition(b":")
            length = int(value) if name == b"content-length" else length
        self.statuses.append(status)
        self.bodies.append(reader.read(length))
        return True


def exchange(service: House, data: bytes, most: int = 1, seconds: float = PATIENCE) -> Answers:
    """Send the bytes on a connection of their own, and read what comes back."""
    with connect(service) as connection:
        with contextlib.suppress(OSError):
            connection.sendall(data)
        return Answers(connection, most, seconds)


def is_answering(service: House, times: int = 40) -> bool:
    """Whether /healthz is answered each time, on a new connection, within ANSWER_SECONDS."""
    question = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
    return all(exchange(service, question, seconds=ANSWER_SECONDS).statuses == [200] for _ in range(times))


def memory(service: House) -> int:
    """Bytes that the API's processes hold together."""
    assert service.api is not None
    api = psutil.Process(service.api.pid)
    return sum(process.memory_info().rss for process in (api, *api.children(recursive=True)))


@contextlib.contextmanager
def held(service: House, count: int, begin: bytes) -> Iterator[list[socket.socket]]:
    """Connections on which something was begun."""
    with contextlib.ExitStack() as stack:
        connections = [stack.enter_context(connect(service)) for _ in range(count)]
        for connection in connections:
            connection.sendall(begin)
        yield connections


@contextlib.contextmanager
def dripping(connections: list[socket.socket]) -> Iterator[None]:
    """Each connection sends a byte a second."""
    stop = threading.Event()

    def drip() -> None:
        while not stop.wait(1):
            for connection in connections:
                with contextlib.suppress(OSError):
                    connection.send(b"X")

    thread = threading.Thread(target=drip)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


@pytest.mark.usefixtures("untouched")
def test_b52_a_hundred_slow_heads(service: House) -> None:
    def no_answer_waits_for_them() -> bool:
        with held(service, 100, b"POST /api/v1/sms/send HTTP/1.1\r\nX-") as connections, dripping(connections):
            deadline = time.monotonic() + 2.5
            while time.monotonic() < deadline:
                assert is_answering(service)
            return not any(map(ended, connections))

    assert any(no_answer_waits_for_them() for _ in range(ATTEMPTS))


def ended(connection: socket.socket) -> bool:
    """Whether the server has answered on a connection, or closed it."""
    connection.settimeout(0.001)
    try:
        connection.recv(1, socket.MSG_PEEK)
    except TimeoutError:
        return False
    except OSError:
        return True
    return True


@pytest.mark.usefixtures("untouched")
def test_b54_five_hundred_idle_connections(service: House) -> None:
    before = memory(service)
    with held(service, 500, b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n") as connections:
        assert {status for connection in connections for status in Answers(connection).statuses} <= {200, 429, 503}
        assert is_answering(service)
        assert service.get("/balance")["unit"] == "sms"
        assert memory(service) - before < 2**25


def test_b55_a_hundred_sends_in_a_pipe(service: House) -> None:
    before = facts(service)
    data = b"".join(request(service, body(254722000000 + number)) for number in range(100))
    responses = exchange(service, data, most=100)
    assert responses.statuses == [200] * 100
    assert facts(service).sends == before.sends + 100
    assert facts(service).available == before.available - 100
    phones = [json.loads(response)["phone"] for response in responses.bodies]
    assert phones == [str(254722000000 + number) for number in range(100)]


@pytest.mark.parametrize("reset", [pytest.param(False, id="B57-closed"), pytest.param(True, id="B57-reset")])
def test_clients_that_leave_without_the_response(service: House, reset: bool) -> None:
    before = facts(service)

    def send_and_leave(number: int) -> None:
        with connect(service) as connection:
            if reset:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            data = request(service, body(254733000000 + number))
            connection.sendall(data if number % 3 else data[:-10])

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(send_and_leave, range(90)))
    seen: list[Any] = []

    def at_rest() -> bool:
        """Nothing has changed for eight looks, and something has come where something must."""
        time.sleep(0.2)
        seen.append(facts(service))
        return len(seen) > 8 and len(set(seen[-8:])) == 1 and (reset or seen[-1] != before)

    wait_until(at_rest, 60, "an end")
    after = facts(service)
    taken = after.sends - before.sends
    assert taken <= 60, "only complete requests may be taken"
    assert taken > 0 or reset, "a reset may throw away what was not read yet, a close may not"
    assert after.batches - before.batches == after.entries - before.entries == taken
    assert before.available - after.available == after.reserved - before.reserved == taken


def test_the_books_are_clean_and_the_log_has_no_traceback(service: House) -> None:
    assert [breach for breach in audit(service.engine, full=True) if breach.rule != "queue_moves"] == []
    assert service.api is not None
    assert "Traceback" not in service.api.log_file.read_text()
    assert "panicked" not in service.api.log_file.read_text()
