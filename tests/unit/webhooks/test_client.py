"""Receivers that misbehave: each post to them ends, in bounded time and memory, and tells what was wrong."""

import asyncio
import resource
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import IO
from uuid import uuid4

import pytest
from aiohttp import AsyncResolver
from aiohttp.client_proto import ResponseHandler

from worker.webhooks import client
from worker.webhooks.client import Client, Reply
from worker.webhooks.policy import DELAYS, PostJob, PostResult, result_of

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


ENDLESS = """
import os, socket, threading
listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
def send(connection):
    connection.sendall(b"HTTP/1.1 100 Continue\\r\\n\\r\\n" * 2_000)
    os.write(1, b"sending\\n")  # a whole line: `print` writes it in two parts, between which another thread may print
    while True:
        connection.sendall(b"HTTP/1.1 100 Continue\\r\\n\\r\\n" * 2_000)
while True:
    threading.Thread(target=send, args=(listener.accept()[0],), daemon=True).start()
"""


def test_endless_responses_do_not_keep_others_from_being_posted_to(
    stop: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Little is read of them at a time, so the others have heard before the four endless ones are given up."""
    take, taken = ResponseHandler.data_received, []

    def take_and_note(handler: ResponseHandler, data: bytes) -> None:
        taken.append(len(data))
        take(handler, data)

    monkeypatch.setattr(ResponseHandler, "data_received", take_and_note)
    good = serve(once(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n"), stop)

    async def run(told: IO[str]) -> tuple[list[int | None], int]:
        made, port = Client(loopback=True), told.readline().strip()
        hostile = [asyncio.create_task(made.post(f"http://127.0.0.1:{port}/", {}, b"{}")) for _ in range(4)]
        try:
            for _ in hostile:
                assert await asyncio.to_thread(told.readline) == "sending\n"
            replies = [await made.post(good, {}, b"{}") for _ in range(5)]
            return [reply.http_status for reply in replies], sum(not task.done() for task in hostile)
        finally:
            for task in hostile:
                task.cancel()
            await made.close()

    # In a process of its own, so that it takes nothing of the loop's time but what it sends.
    with subprocess.Popen([sys.executable, "-c", ENDLESS], stdout=subprocess.PIPE, text=True) as sender:
        assert sender.stdout is not None
        try:
            assert asyncio.run(run(sender.stdout)) == ([204] * 5, 4)
        finally:
            sender.kill()
    assert max(taken) <= 8 * client.RECEIVE_BYTES


def test_proxies_of_the_environment_are_not_used(stop: threading.Event, monkeypatch: pytest.MonkeyPatch) -> None:
    good = serve(once(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n"), stop)
    proxy = serve(once(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), stop)
    for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, proxy)
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    (reply,) = post([good])
    assert reply.http_status == 204
