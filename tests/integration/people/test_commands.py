"""`bulksms person`."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from click.testing import CliRunner

from bulksms.cli import main
from shared.accounts.audit_log import Actor
from shared.people.identities import bind_identity
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


def test_json_has_the_link(run: Run) -> None:
    shown = json.loads(run("invite", "json@example.com", "--operator", "support", "--json"))
    assert shown["url"].startswith("https://console.example/invitations/smsv_")


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


def test_an_unknown_person_or_one_who_is_a_member_already_is_refused(service: Service, run: Run) -> None:
    for command in (["link"], ["disable"], ["enable"]):
        assert "nobody@example.com" in run(*command, "nobody@example.com", code=1)
    assert "no account" in run("invite", "x@example.com", "--account", "no-such-account", "--role", "viewer", code=1)
    ann = a_person(service, service.account_id)
    assert "already" in run("invite", ann.email, "--account", str(service.account_id), "--role", "owner", code=1)


def test_nobody_is_invited_to_a_sandbox(service: Service, run: Run) -> None:
    sandbox = service.in_sandbox().account_id
    refused = run("invite", "x@example.com", "--account", str(sandbox), "--role", "owner", code=1)
    assert f"is the sandbox of account {service.account_id}" in refused


def test_a_notice_is_printed_when_a_new_link_replaces_a_working_one(service: Service, run: Run) -> None:
    ann = a_person(service)
    message = "earlier link no longer works"
    first = run("link", ann.email)
    second = run("link", ann.email)
    assert message not in first and message in second
    assert open_call(service, "/sign-in/link", token=token(first, "sign-in/link")).json["code"] == "invalid_link"
    assert open_call(service, "/sign-in/link", token=token(second, "sign-in/link")).status_code == 200
    assert message not in run("link", ann.email)


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


def test_another_identity_of_the_provider_may_take_the_place_of_one(service: Service, run: Run) -> None:
    ann = a_person(service)
    assert "was not linked to an identity" in run("unlink-identity", ann.email)
    with service.engine.begin() as connection:
        assert bind_identity(connection, ann.id, "https://id.example", "old", by=Actor("tests"))
        assert not bind_identity(connection, ann.id, "https://id.example", "new", by=Actor("tests"))
    assert "is no longer linked to an identity" in run("unlink-identity", ann.email)
    with service.engine.begin() as connection:
        assert bind_identity(connection, ann.id, "https://id.example", "new", by=Actor("tests"))
    assert "person.identity_unbound" in [what for _, what, subject in changes(service) if subject == str(ann.id)]
    run("unlink-identity", "nobody@example.com", code=1)
