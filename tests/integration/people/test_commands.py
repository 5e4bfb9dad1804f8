"""`bulksms person`."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from click.testing import CliRunner

from bulksms.cli import main
from tests.harness.people import PASSWORD, a_person, changes, open_call, sign_in
from tests.harness.service import SECRET_KEY, Service

Run = Callable[..., str]


@pytest.fixture
def run(service: Service) -> Run:
    """Run a command. It must end with `code`."""
    env = {
        "DATABASE_URL": service.settings.database_url,
        "REDIS_URL": "redis://127.0.0.1:1",
        "SECRET_KEY": SECRET_KEY,
        "CONSOLE_URL": "https://console.example/",
        "COLUMNS": "300",
    }

    def call(*arguments: str, code: int = 0) -> str:
        result = CliRunner().invoke(main, ["person", *arguments], env=env)
        assert result.exit_code == code, result.output
        return result.output

    return call


def token(output: str, path: str) -> str:
    found = re.search(rf"^https://console.example/{path}/(sms\S+)$", output, re.M)
    assert found is not None, output
    return found[1]


def test_it_works(service: Service, run: Run) -> None:
    output = run(
        "invite", "Ops@Example.com", "--account", str(service.account_id), "--role", "owner", "--operator", "admin"
    )
    response = open_call(
        service, "/invitations/accept", token=token(output, "invitations"), name="Ops", password=PASSWORD
    )
    assert response.status_code == 200 and response.json["person"]["operator_role"] == "admin"
    listed: list[dict[str, Any]] = json.loads(run("list", "--json"))
    ops = next(each for each in listed if each["email"] == "ops@example.com")
    assert (ops["operator_role"], ops["state"], ops["totp"]) == ("admin", "active", False)
    assert re.fullmatch(r"acme-\d+: owner", ops["accounts"][0])
    link = run("link", "ops@example.com")
    assert open_call(service, "/sign-in/link", token=token(link, "sign-in/link")).status_code == 200
    run("operator", "ops@example.com", "none")
    assert sign_in(service, "ops@example.com").json["person"]["operator_role"] is None
    run("disable", "ops@example.com")
    assert sign_in(service, "ops@example.com").status_code == 401
    assert "is disabled" in run("link", "ops@example.com", code=1)
    run("enable", "ops@example.com")
    assert sign_in(service, "ops@example.com").status_code == 200
    whats = [what for _, what, subject in changes(service) if subject == ops["id"]]
    assert whats == [
        "person.created",
        "member.added",
        "person.operator_role_set",
        "person.link_made",
        "person.operator_role_set",
        "person.disabled",
        "person.enabled",
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["invite", "x@example.com"], "--operator"),
        (["invite", "x@example.com", "--role", "owner"], "together"),
        (["invite", "x@example.com", "--account", "1"], "together"),
        (["invite", "no-address", "--operator", "admin"], "not an e-mail"),
        (["invite", "x@example.com", "--operator", "root"], "root"),
    ],
)
def test_invalid_arguments_are_refused(run: Run, arguments: list[str], message: str) -> None:
    assert message in run(*arguments, code=2)


def test_giving_an_operator_role_by_email_shows_the_person_and_asks(service: Service, run: Run) -> None:
    ann = a_person(service, service.account_id, "owner")
    output = run("operator", ann.email, "admin", code=1)
    assert str(ann.id) in output and "acme" in output and "Aborted" in output
    assert sign_in(service, ann.email).json["person"]["operator_role"] is None
    run("operator", ann.email, "admin", "--yes")
    assert sign_in(service, ann.email).json["person"]["operator_role"] == "admin"
    assert (str(ann.id), "person.operator_role_set") in {(subject, what) for _, what, subject in changes(service)}


def test_a_released_address_is_free_at_once(service: Service, run: Run) -> None:
    a_person(service, service.account_id, "owner")
    squatter = a_person(service, service.account_id, "owner")
    headers = squatter.token(service.account_id)
    theirs = service.post("/invitations", token=headers, email="friend@example.com", role="owner").json["token"]
    run("disable", squatter.email, "--erase")
    assert squatter.get("/me").json["code"] == "session_ended"
    assert str(squatter.id) not in service.get("/people").text
    assert open_call(service, "/invitations/preview", token=theirs).json["code"] == "invalid_link"
    link = run("invite", squatter.email, "--account", str(service.account_id), "--role", "viewer")
    invited = token(link, "invitations")
    accepted = open_call(service, "/invitations/accept", token=invited, name="Ann", password="another long password")
    assert accepted.status_code == 200 and accepted.json["person"]["person_id"] != str(squatter.id)
    assert (str(squatter.id), "person.email_released") in {(subject, what) for _, what, subject in changes(service)}
    assert "nobody@example.com" in run("disable", "nobody@example.com", "--erase", code=1)
