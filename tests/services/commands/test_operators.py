"""`bulksms operator-key`, and what else the command line does with the functions of the operator API."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from click.testing import CliRunner, Result
from sqlalchemy import Engine

from bulksms.cli import main
from shared.db.connection import transaction
from shared.inbound import Inbound, store
from tests.harness.service import SECRET_KEY, Service

Run = Callable[..., Result]


@pytest.fixture
def service(engine: Engine) -> Service:
    return Service(engine)


@pytest.fixture
def run(engine: Engine) -> Run:
    env = {
        "DATABASE_URL": engine.url.render_as_string(hide_password=False),
        "REDIS_URL": "redis://127.0.0.1:1",
        "SECRET_KEY": SECRET_KEY,
    }

    def call(*arguments: object, code: int = 0) -> Result:
        result = CliRunner().invoke(main, list(map(str, arguments)), env=env)
        assert result.exit_code == code, result.output
        return result

    return call


def as_json(result: Result) -> Any:
    return json.loads(result.stdout)


def test_it_works(run: Run, service: Service) -> None:
    made = as_json(run("operator-key", "create", "billing", "--scope", "read", "--scope", "money", "--json"))
    response = service.client.post("/operator/v1/auth/token", json=made)
    assert response.json["scope"] == "money read"
    (listed,) = [each for each in as_json(run("operator-key", "list", "--json")) if each["id"] == made["api_key"]]
    assert (listed["name"], listed["scopes"], listed["revoked_at"]) == ("billing", ["money", "read"], None)
    assert made["api_secret"] not in run("operator-key", "list").output
    run("operator-key", "revoke", made["api_key"])
    assert service.client.post("/operator/v1/auth/token", json=made).status_code == 401
    assert "is revoked" in run("operator-key", "revoke", made["api_key"], code=1).output


def test_a_key_needs_a_scope_and_a_network(run: Run, service: Service) -> None:
    run("operator-key", "create", "billing", code=2)
    run("operator-key", "create", "billing", "--scope", "everything", code=2)
    assert "network" in run("operator-key", "create", "x", "--scope", "all", "--allow", "here", code=1).output
    assert "Name the key" in run("operator-key", "create", " ", "--scope", "read", code=1).output


def test_an_account_is_closed(run: Run, service: Service) -> None:
    run("account", "close", service.account_id, "--reason", "ended", code=1)
    run("account", "close", service.account_id, "--reason", "ended", "--yes")
    assert as_json(run("account", "show", service.account_id, "--json"))["state"] == "closed"
    assert "cannot be undone" in run("account", "activate", service.account_id, code=1).output


def test_a_send_and_a_message_are_refunded(run: Run, service: Service) -> None:
    sent = service.bulk(["254711000001", "254711000002"]).json
    message = sent["messages"][0]["message_id"]
    refund = ("account", "refund", service.account_id, "--reason", "ticket 7")
    assert run(*refund, "--message", message).stdout == "999\n"
    assert run(*refund, "--send", sent["send_id"]).stdout == "1000\n"
    assert "refunded before" in run(*refund, "--message", message, code=1).output
    run(*refund, code=2)


def test_whoever_rotates_a_key_is_told_to_keep_the_secret(run: Run, service: Service) -> None:
    made = as_json(run("key", "create", service.account_id, "--json"))
    rotate = "key", "rotate", service.account_id, made["api_key"]
    assert "cannot be shown again" in run(*rotate).stderr
    quiet = run(*rotate, "--json")
    assert "cannot be shown again" not in quiet.output and as_json(quiet)["api_secret"]


def test_one_is_not_said_to_be_many(run: Run, service: Service) -> None:
    assert "1 credit added" in run("account", "topup", service.account_id, 1, "--reason", "x").stderr
    assert "for 1 day." in run("account", "retention", service.account_id, 1).stderr
    assert "in the last 1 day." in run("message", "find", "254799999999", "--days", 1).stderr


def test_inbound_messages_are_assigned(run: Run, service: Service) -> None:
    number = "254206000001"
    with transaction(service.engine) as connection:
        store(connection, "main", [Inbound("254711222444", number, "Hello")])
    assert "Approve that first" in run("inbound", "assign", number, service.account_id, code=1).output
    run("sender", "request", service.account_id, number)
    run("sender", "approve", service.account_id, number)
    assert "1 message to" in run("inbound", "assign", number, service.account_id).stderr
    assert [each["message"] for each in service.get("/inbound").json["data"]] == ["Hello"]


def test_changes_are_filtered_by_actor(run: Run, service: Service) -> None:
    run("account", "suspend", service.account_id)
    (changed, *_) = as_json(run("audit-log", service.account_id, "--json"))
    same = as_json(run("audit-log", service.account_id, "--actor", changed["actor"], "--json"))
    assert same[0]["id"] == changed["id"]
    assert as_json(run("audit-log", service.account_id, "--actor", "nobody", "--json")) == []


def test_a_change_is_one_line(run: Run, service: Service) -> None:
    run("account", "close", service.account_id, "--reason", "unpaid\nbill [7]", "--yes")
    shown = run("audit-log", service.account_id, "--action", "account.closed").stdout.splitlines()
    (changed,) = as_json(run("audit-log", service.account_id, "--action", "account.closed", "--json"))
    assert len(shown) == 1
    for part in (str(changed["id"]), "account.closed", f"by {changed['actor']}", '"unpaid bill [7]"'):
        assert f"  {part}  " in f"  {shown[0]}  "
