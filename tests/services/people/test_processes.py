"""People with real API processes: what one process learns, the others know, and no log or Redis holds a secret."""

from collections.abc import Iterator
from typing import Any

import pytest

from shared.people.invitations import invite
from tests.harness.house import House, wait_until
from tests.harness.leaks import in_logs

EMAIL, PASSWORD, WRONG = "canary-person@example.com", "canary password of a person", "canary guess at a password"
CONNECTIONS = 40
"""Requests on a connection each: enough for all processes to get some."""


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    made = House(tmp_path_factory.mktemp("house"), LOG_LEVEL="DEBUG")
    try:
        made.start_api()
        made.new_account()
        yield made
    finally:
        made.stop()


def call(service: House, method: str, path: str, token: str, body: Any = None) -> tuple[int, Any]:
    return service.try_request(method, path, body, {"Authorization": f"Bearer {token}"})


def statuses(service: House, path: str, token: str) -> set[int]:
    return {call(service, "GET", path, token)[0] for _ in range(CONNECTIONS)}


def test_the_day_of_a_person(service: House) -> None:
    account = service.scalar("SELECT id FROM account")
    with service.engine.begin() as connection:
        invitation = invite(connection, EMAIL, account, "sender").token
    accepted = service.post("/invitations/accept", token=invitation, name="Canary", password=PASSWORD)
    session = accepted["session_token"]
    assert statuses(service, "/me", session) == {200}
    status, response = call(service, "POST", "/me/token", session, {"account_id": account})
    assert status == 200
    token = response["access_token"]
    assert statuses(service, "/balance", token) == {200}
    body = {"sender_id": "ACME", "phone": "254711000000", "message": "Hi"}
    assert call(service, "POST", "/sms/send", token, body)[0] == 200
    assert call(service, "POST", "/me/sign-out", session)[0] == 200
    assert statuses(service, "/me", session) == {401}
    wait_until(lambda: statuses(service, "/balance", token) == {401}, 60, "all processes to refuse the token")
    assert call(service, "POST", "/sms/send", token, body)[0] == 401
    again = service.post("/sign-in", email=EMAIL, password=PASSWORD)
    assert again["session_token"] != session
    guesses = [service.try_request("POST", "/sign-in", {"email": EMAIL, "password": WRONG})[0] for _ in range(30)]
    assert set(guesses) == {401, 429}
    limited = {"email": EMAIL, "password": PASSWORD}
    wait_until(
        lambda: {service.try_request("POST", "/sign-in", limited)[0] for _ in range(CONNECTIONS)} == {429},
        60,
        "all processes to count",
    )
    canaries = [EMAIL, PASSWORD, WRONG, invitation, session, again["session_token"], token]
    assert in_logs(service.folder, *canaries) == []
    assert service.leaks(*canaries) == []
