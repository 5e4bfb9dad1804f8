"""`bulksms operator-key`, and what else the command line does with the functions of the operator API."""

from shared.db.connection import transaction
from shared.inbound import Inbound, store
from tests.harness.service import Service
from tests.services.commands.conftest import Run, as_json


def test_a_key_needs_a_scope_and_a_network(run: Run, service: Service) -> None:
    run("operator-key", "create", "billing", code=2)
    run("operator-key", "create", "billing", "--scope", "everything", code=2)
    assert "network" in run("operator-key", "create", "x", "--scope", "all", "--allow", "here", code=1).output
    assert "Name the key" in run("operator-key", "create", " ", "--scope", "read", code=1).output


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
    assert "Give an overlap of 0" in run(*rotate, code=1).output
    quiet = run(*rotate, "--overlap", "0", "--json")
    assert "cannot be shown again" not in quiet.output and as_json(quiet)["api_secret"]


def test_inbound_messages_are_assigned(run: Run, service: Service) -> None:
    number = "254206000001"
    with transaction(service.engine) as connection:
        store(connection, "main", [Inbound("254711222444", number, "Hello")])
    assert "Approve that first" in run("inbound", "assign", number, service.account_id, code=1).output
    run("sender", "request", service.account_id, number)
    run("sender", "approve", service.account_id, number)
    assert "1 message to" in run("inbound", "assign", number, service.account_id).stderr
    assert [each["message"] for each in service.get("/inbound").json["data"]] == ["Hello"]
