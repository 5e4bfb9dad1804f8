"""People with real API processes: what one process learns, the others know, and no log or Redis holds a secret."""

import contextlib
import http.client
import json
from typing import Any

import psutil
import pytest

from bulksms.local.ports import LOOPBACK
from bulksms.local.services import API_PROCESSES
from shared.people.invitations import invite
from tests.harness.house import House, a_house, wait_until
from tests.harness.leaks import in_logs

pytestmark = pytest.mark.slow

EMAIL, PASSWORD, WRONG = "canary-person@example.com", "canary password of a person", "canary guess at a password"


service = a_house(0, api_processes=2, LOG_LEVEL="DEBUG")


def call(service: House, method: str, path: str, token: str, body: Any = None) -> tuple[int, Any]:
    return service.try_request(method, path, body, {"Authorization": f"Bearer {token}"})


def statuses(service: House, method: str, path: str, token: str = "", body: Any = None) -> set[int]:
    """Of each process of the API: on new connections until each has answered one."""
    found: dict[int, int] = {}

    def ask() -> bool:
        connection = http.client.HTTPConnection(LOOPBACK, service.port, timeout=60)
        with contextlib.closing(connection):
            headers = {"Content-Type": "application/json", "Authorization": f"Bearer {token}"}
            connection.request(method, f"/api/v1{path}", json.dumps(body) if body else None, headers)
            response = connection.getresponse()
            response.read()
            found[process_of(service, connection.sock.getsockname()[1])] = response.status
        return len(found) == API_PROCESSES

    wait_until(ask, 60, "a response of each process")
    return set(found.values())


def process_of(service: House, port: int) -> int:
    """The process that has the connection from this port."""
    assert service.api is not None
    for process in psutil.Process(service.api.pid).children():
        if any(each.raddr and each.raddr.port == port for each in process.net_connections("tcp")):
            return int(process.pid)
    raise AssertionError("no process of the API has the connection")


def test_the_day_of_a_person(service: House) -> None:
    account = service.scalar("SELECT id FROM account")
    invitation = service.transact(invite, EMAIL, account, "sender").token
    accepted = service.post("/invitations/accept", token=invitation, name="Canary", password=PASSWORD)
    session = accepted["session_token"]
    assert statuses(service, "GET", "/me", session) == {200}
    status, response = call(service, "POST", "/me/token", session, {"account_id": account})
    assert status == 200
    token = response["access_token"]
    assert statuses(service, "GET", "/balance", token) == {200}
    body = {"sender_id": "ACME", "phone": "254711000000", "message": "Hi"}
    assert call(service, "POST", "/sms/send", token, body)[0] == 200
    assert call(service, "POST", "/me/sign-out", session)[0] == 200
    assert statuses(service, "GET", "/me", session) == {401}
    wait_until(lambda: statuses(service, "GET", "/balance", token) == {401}, 60, "all processes to refuse the token")
    assert call(service, "POST", "/sms/send", token, body)[0] == 401
    again = service.post("/sign-in", email=EMAIL, password=PASSWORD)
    assert again["session_token"] != session
    guesses = [service.try_request("POST", "/sign-in", {"email": EMAIL, "password": WRONG})[0] for _ in range(30)]
    assert set(guesses) == {401, 429}
    limited = {"email": EMAIL, "password": PASSWORD}
    wait_until(lambda: statuses(service, "POST", "/sign-in", body=limited) == {429}, 60, "all processes to count")
    canaries = [EMAIL, PASSWORD, WRONG, invitation, session, again["session_token"], token]
    assert in_logs(service.folder, *canaries) == []
    assert service.leaks(*canaries) == []
