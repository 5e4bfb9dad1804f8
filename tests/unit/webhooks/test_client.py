"""Receivers that misbehave: each post to them ends, in bounded time and memory, and tells what was wrong."""

import asyncio
import math
import resource
import socket
import threading
from collections.abc import Callable
from uuid import uuid4

import pytest
from aiohttp import AsyncResolver

from worker.webhooks import client
from worker.webhooks.client import Client, Reply
from worker.webhooks.policy import DELAYS, GIVEN_UP_AFTER, PostJob, PostResult, result_of

OK = b"HTTP/1.1 200 OK\r\n"


Behaviour = Callable[[socket.socket, threading.Event], object]


def endlessly(first: bytes, part: bytes) -> Behaviour:
    """Sends something, and something else until nobody takes it any more."""

    def behave(connection: socket.socket, stop: threading.Event) -> None:
        connection.sendall(first)
        while not stop.is_set():
            connection.sendall(part)

    return behave


def once(response: bytes, *, wait: bool = False) -> Behaviour:
    """Sends a response and closes, or waits."""

    def behave(connection: socket.socket, stop: threading.Event) -> None:
        connection.sendall(response)
        if wait:
            stop.wait()

    return behave


def trickle(connection: socket.socket, stop: threading.Event) -> None:
    connection.sendall(OK)
    while not stop.wait(0.05):
        connection.sendall(b"X")


def reset(connection: socket.socket, _: threading.Event) -> None:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")


MISBEHAVIOUR: dict[str, Behaviour] = {
    "never answers": once(b"", wait=True),
    "answers a byte at a time": trickle,
    "resets": reset,
    "closes": once(b""),
    "speaks no HTTP": once(b"SSH-2.0-OpenSSH_9.9\r\n"),
    "answers nothing but 1xx": endlessly(b"", b"HTTP/1.1 102 Processing\r\n\r\n"),
    "sends headers without end": endlessly(OK, b"X: y\r\n"),
    "sends one header without end": endlessly(OK + b"X: ", b"y" * 999),
    "answers 500": once(b"HTTP/1.1 500 Oh\r\nContent-Length: 0\r\n\r\n"),
    "tells two lengths": once(OK + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nab"),
}
REDIRECTS = once(b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n")


def serve(behave: Behaviour, stop: threading.Event) -> str:
    """A URL at which each connection is treated so, once its request has come."""
    listener = socket.create_server(("127.0.0.1", 0))

    def one(connection: socket.socket) -> None:
        with connection:
            try:
                connection.recv(65536)
                behave(connection, stop)
            except OSError:
                pass

    def run() -> None:
        with listener:
            while not stop.is_set():
                connection, _ = listener.accept()
                threading.Thread(target=one, args=(connection,), daemon=True).start()

    threading.Thread(target=run, daemon=True).start()
    return f"http://127.0.0.1:{listener.getsockname()[1]}/"


def post(urls: list[str]) -> list[Reply]:
    """Post to all of them at the same time."""

    async def run() -> list[Reply]:
        made = Client(loopback=True)
        try:
            return await asyncio.gather(*(made.post(url, {}, b"{}") for url in urls))
        finally:
            await made.close()

    return asyncio.run(run())


def test_each_misbehaving_receiver_is_recognized_and_dropped_in_time(
    stop: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "RESPONSE_SECONDS", 1.0)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    replies = dict(zip(MISBEHAVIOUR, post([serve(behave, stop) for behave in MISBEHAVIOUR.values()]), strict=True))
    assert [name for name, reply in replies.items() if reply.error is None] == []
    assert {name for name, reply in replies.items() if "within" in str(reply.error)} >= {
        "never answers",
        "answers a byte at a time",
    }
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 * 1024


def test_a_success_counts_although_its_body_never_ends(stop: threading.Event, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "BODY_SECONDS", 0.1)
    (reply,) = post([serve(once(OK + b"Content-Length: 9\r\n\r\n", wait=True), stop)])
    assert (reply.http_status, reply.error) == (200, None)
    assert reply.milliseconds < 60_000


def test_a_redirection_is_not_followed(stop: threading.Event) -> None:
    (reply,) = post([serve(REDIRECTS, stop)])
    assert reply.http_status == 302 and reply.error is not None


def test_attempts_are_spread_over_75_hours() -> None:
    assert 75 * 3600 <= sum(DELAYS) < 76 * 3600
    job = PostJob(uuid4(), "message.sent", "", b"", 0, 0.0, Reply(500, "no", 1))
    for attempts, delay in enumerate(DELAYS):
        job.attempts = attempts
        outcome = result_of(job)
        assert outcome.state == "pending"
        assert outcome.wait is not None
        assert delay <= outcome.wait <= delay * 1.1
    job.attempts = len(DELAYS)
    assert result_of(job) == PostResult("failed", 10, None)


@pytest.mark.parametrize(
    ("attempts", "age", "state"),
    [
        (1, GIVEN_UP_AFTER, "pending"),
        (1, GIVEN_UP_AFTER + 1, "failed"),
        (0, GIVEN_UP_AFTER + 1, "pending"),
        (0, math.inf, "failed"),
    ],
)
def test_an_event_is_not_given_up_untried(attempts: int, age: float, state: str) -> None:
    job = PostJob(uuid4(), "message.sent", "", b"", attempts, age, skipped="Not tried")
    assert result_of(job).state == state


def test_silent_name_servers_delay_no_other_name(stop: threading.Event) -> None:
    good = serve(once(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n"), stop).replace("127.0.0.1", "localhost")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent:
        silent.bind(("127.0.0.1", 0))

        async def run() -> tuple[Reply, int]:
            resolver = AsyncResolver(nameservers=["127.0.0.1"], udp_port=silent.getsockname()[1], timeout=60, tries=99)
            made = Client(loopback=True, resolver=resolver)
            waiting = [asyncio.create_task(made.post(f"https://{n}.silent.example/", {}, b"{}")) for n in range(200)]
            try:
                await asyncio.get_running_loop().run_in_executor(None, silent.recv, 512)
                reply = await made.post(good, {}, b"{}")
                return reply, sum(not task.done() for task in waiting)
            finally:
                for task in waiting:
                    task.cancel()
                await made.close()

        reply, still_waiting = asyncio.run(run())
    assert (reply.http_status, still_waiting) == (204, 200)


def test_proxies_of_the_environment_are_not_used(stop: threading.Event, monkeypatch: pytest.MonkeyPatch) -> None:
    good = serve(once(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n"), stop)
    proxy = serve(once(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), stop)
    for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, proxy)
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    (reply,) = post([good])
    assert reply.http_status == 204
