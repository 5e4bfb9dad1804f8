"""The response timeout of an HTTP carrier: what is over then is in doubt, or was never submitted."""

import contextlib
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.harness.house import wait_until
from tests.harness.http_carrier import PATIENCE, Reply, Request, http_peer, json_reply
from tests.harness.response_timeout import submit_until
from tests.services.carriers.http_pair import PHONE, carrier, declared, pair
from tests.unit.carriers.smpp.making import KeptInbox, Quota, message_group
from worker.carriers.base import LateResponse, Outcome, ResponseKind


def test_messages_that_a_limit_holds_too_long_are_not_submitted() -> None:
    with pair(lambda request: json_reply({"id": "m"})) as (peer, made):
        group = message_group("Hi", [str(int(PHONE) + number) for number in range(4)])
        outcomes = made.submit([group], Quota(left=1))
        assert [each.response for each in outcomes] == [ResponseKind.ACCEPTED] + [ResponseKind.THROTTLED] * 3
        assert [each.is_unsubmitted for each in outcomes] == [False] + [True] * 3
        assert len(peer.requests) == 1


def test_no_response_means_in_doubt_and_a_late_one_resolves_it() -> None:
    go_on = threading.Event()

    def respond(request: Request) -> Reply:
        go_on.wait(PATIENCE)
        return json_reply({"id": "late"})

    inbox = KeptInbox()
    with http_peer(respond) as peer, carrier(declared(peer.url("/")), inbox) as made:
        group = message_group("x", [PHONE])
        outcomes = submit_until(lambda: peer.requests, made, group)
        assert outcomes == [Outcome(ResponseKind.IN_DOUBT, error="no_response")]
        go_on.set()
        wait_until(lambda: inbox.late, PATIENCE, "the late response")
        assert inbox.late == [LateResponse(group.ids[0], Outcome(ResponseKind.ACCEPTED, "late"))]


def test_closing_waits_for_outstanding_responses_and_reports_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("worker.carriers.http.driver.CLOSE_SECONDS", PATIENCE)
    go_on = threading.Event()

    def respond(request: Request) -> Reply:
        go_on.wait(PATIENCE)
        return json_reply({"id": "late"})

    inbox = KeptInbox()
    with http_peer(respond) as peer, carrier(declared(peer.url("/")), inbox) as made, ThreadPoolExecutor(1) as pool:
        (outcome,) = submit_until(lambda: peer.requests, made, message_group("x", [PHONE]))
        assert outcome.response == ResponseKind.IN_DOUBT
        closed = pool.submit(made.close)
        with pytest.raises(TimeoutError):
            closed.result(0.3)
        go_on.set()
        closed.result(2 * PATIENCE)
        assert [each.outcome.reference for each in inbox.late] == ["late"]


CLOSED_WITHOUT_RESPONSE = """
import sys, threading
from tests.services.carriers.http_pair import PHONE, declared
from tests.unit.carriers.smpp.making import KeptInbox, message_group
from worker.carriers.http import HttpCarrier

made = HttpCarrier(declared(sys.argv[1], response_timeout=600))
made.open(KeptInbox())
threading.Thread(target=made.submit, args=([message_group("Hi", [PHONE])],), daemon=True).start()
sys.stdin.read()
made.close()
"""
"""A process that submits a message to the carrier at an address, and closes it when its input ends."""


def test_a_process_does_not_wait_for_a_response_after_closing() -> None:
    asked, go_on = threading.Event(), threading.Event()

    def respond(request: Request) -> Reply:
        asked.set()
        go_on.wait(3 * PATIENCE)
        return json_reply({"id": "late"})

    with http_peer(respond) as peer:
        command = [sys.executable, "-c", CLOSED_WITHOUT_RESPONSE, peer.url("/")]
        with subprocess.Popen(command, stdin=subprocess.PIPE) as process:
            try:
                assert asked.wait(PATIENCE)
                process.communicate(timeout=PATIENCE)
                assert process.returncode == 0
            finally:
                process.kill()
                go_on.set()


def test_messages_that_find_no_room_in_time_are_never_submitted() -> None:
    go_on = threading.Event()

    def respond(request: Request) -> Reply:
        go_on.wait(PATIENCE)
        return json_reply({"id": "x"})

    with pair(respond, window=2) as (peer, made):
        phones = [f"25471100000{number}" for number in range(5)]
        outcomes = submit_until(lambda: len(peer.requests) == 2, made, message_group("x", phones))
        assert [(each.response, each.error) for each in outcomes] == [
            *[(ResponseKind.IN_DOUBT, "no_response")] * 2,
            *[(ResponseKind.THROTTLED, "window_full")] * 3,
        ]
        go_on.set()
        (outcome,) = made.submit([message_group("x", ["254711000009"])])
        assert outcome.response == ResponseKind.ACCEPTED
        assert sorted(request.json["to"] for request in peer.requests) == [*phones[:2], "254711000009"]


def test_a_trickled_response_is_doubt_in_time() -> None:
    trickling = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:

        def trickle() -> None:
            with contextlib.suppress(OSError):
                client, _ = server.accept()
                with client:
                    client.recv(65_536)
                    for at, octet in enumerate(b"HTTP/1.1 200 OK\r\nContent-Length: 10000\r\n\r\n" + b" " * 10_000):
                        client.send(bytes((octet,)))
                        time.sleep(0.05)
                        if at == 9:
                            trickling.set()

        thread = threading.Thread(target=trickle, daemon=True)
        thread.start()
        config = declared(f"http://127.0.0.1:{server.getsockname()[1]}/")
        with carrier(config) as made:
            (outcome,) = submit_until(trickling.is_set, made, message_group("x", [PHONE]))
        assert outcome.response == ResponseKind.IN_DOUBT
