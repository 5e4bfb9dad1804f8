"""The operator's command line."""

import csv
import json
import os
import shlex
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from click.testing import CliRunner, Result
from redis import Redis
from sqlalchemy import Engine, text

import shared.contacts.text_stream
from bulksms import environment, imports
from bulksms.cli import main
from bulksms.environment import find_installation, read_exports
from bulksms.local import demo
from bulksms.local.ports import free_port
from bulksms.local.redis import RedisServer
from shared.contacts.imports import begin_import, keep_chunk, queue_import
from shared.inbound import Inbound, store
from shared.job_failures import MAX_FAILURES, Job, failed
from shared.scopes import DEFAULT_SCOPES, SCOPES
from shared.settings import SettingsError
from tests.harness.database import wait_until_somebody_waits
from tests.harness.people import a_person
from tests.harness.service import SECRET_KEY, Service
from worker.jobs import import_contacts as importer
from worker.jobs.import_contacts import import_chunk

Run = Callable[..., Result]
TOMORROW = datetime.now(UTC) + timedelta(days=1)
LATER = {"send_at": TOMORROW.isoformat(), "expires_at": (TOMORROW + timedelta(days=1)).isoformat()}
NOTHING = "redis://127.0.0.1:1/0"


@pytest.fixture
def env(engine: Engine, redis_server: RedisServer) -> dict[str, str]:
    return {
        "DATABASE_URL": engine.url.render_as_string(hide_password=False),
        "REDIS_URL": redis_server.url,
        "SECRET_KEY": SECRET_KEY,
        "CARRIER": "simulator",
    }


@pytest.fixture
def run(env: dict[str, str]) -> Run:
    """Run a command. It must end with `code`."""

    def call(*arguments: object, code: int = 0, **more: str) -> Result:
        result = CliRunner().invoke(main, [str(argument) for argument in arguments], env={**env, **more})
        assert result.exit_code == code, result.output
        return result

    return call


@pytest.fixture
def service(engine: Engine) -> Service:
    return Service(engine)


def as_json(result: Result) -> Any:
    return json.loads(result.stdout)


def scalar(engine: Engine, statement: str, **values: object) -> Any:
    with engine.connect() as connection:
        return connection.execute(text(statement), values).scalar_one()


def test_it_works(run: Run) -> None:
    account = run("account", "create", "acme").stdout.strip()
    assert run("account", "topup", "acme", 500, "--reason", "invoice 7").stdout == "500\n"
    shown = as_json(run("account", "show", "acme", "--json"))
    assert (str(shown["id"]), shown["available"], shown["state"]) == (account, 500, "active")
    assert as_json(run("account", "show", account, "--json")) == shown
    assert "acme" in run("account", "list").stdout


def test_every_command_explains_itself(run: Run) -> None:
    for name, command in main.commands.items():
        assert run(name, "--help").stdout
        for part in getattr(command, "commands", {}):
            assert run(name, part, "--help").stdout


def test_a_top_up_with_a_key_is_repeatable(run: Run) -> None:
    run("account", "create", "careful")
    arguments = "account", "topup", "careful", 70, "--reason", "x", "--key", "invoice-7"
    assert "70 credits added" in run(*arguments).stderr
    again = run(*arguments)
    assert "nothing was added" in again.stderr and again.stdout == "70\n"
    assert (
        "was used for a top-up of 70"
        in run("account", "topup", "careful", 71, "--reason", "x", "--key", "invoice-7", code=1).stderr
    )


def test_a_mistaken_top_up_is_reversed(run: Run) -> None:
    run("account", "create", "generous")
    run("account", "topup", "generous", 10_000, "--reason", "invoice 7", "--key", "seven")
    arguments = "account", "reverse-topup", "generous", "seven", 9_000, "--reason", "a zero too many"
    assert run(*arguments).stdout == "1000\n"
    assert "nothing was changed" in run(*arguments).stderr
    (shown,) = as_json(run("account", "topups", "generous", "--json"))
    assert (shown["amount"], shown["reversed"], shown["reversal_reason"]) == (10_000, 9_000, "a zero too many")


def test_an_account_is_changed(run: Run) -> None:
    run("account", "create", "changing")
    run("account", "set", "changing", "--country", "ke", "--low-balance", 5, "--retention", 30, "--weight", 2)
    shown = as_json(run("account", "show", "changing", "--json"))
    assert (shown["country"], shown["low_balance_threshold"], shown["weight"]) == ("KE", 5, 2)
    assert "None" not in run("account", "set", "changing", "--country", "none", "--name", "changed").stderr
    assert as_json(run("account", "show", "changed", "--json"))["country"] is None
    assert "--weight" in run("account", "set", "changed", code=2).stderr
    assert "number of days" in run("account", "set", "changed", "--retention", "soon", code=2).stderr


def test_the_country_and_the_retention_of_an_account_are_changed(run: Run) -> None:
    run("account", "create", "abroad")
    run("key", "create", "abroad", "--test")
    for arguments, name, before, after in (
        (("country", "abroad", "ug"), "country", None, "UG"),
        (("retention", "abroad", 60), "retention_days", None, 60),
        (("retention", "abroad", "none"), "retention_days", 60, None),
    ):
        run("account", *arguments)
        assert as_json(run("account", "show", "abroad", "--json"))[name] == after
        newest = as_json(run("audit-log", "abroad", "--json"))[0]
        assert (newest["action"], newest["before"], newest["after"]) == (
            "account.changed",
            {name: before},
            {name: after},
        )
    assert "Change the account" in run("account", "country", "abroad (sandbox)", "ke", code=1).stderr


def test_a_mistake_prints_one_sentence_and_fails(run: Run) -> None:
    result = run("account", "topup", "nobody", 5, "--reason", "x", code=1)
    assert result.stderr == "Error: There is no account 'nobody'. `bulksms account list` shows them all.\n"


def test_a_negative_top_up_is_refused_as_a_number(run: Run) -> None:
    run("account", "create", "debtor")
    assert "-5 were given" in run("account", "topup", "debtor", "-5", "--reason", "x", code=1).stderr
    assert "--reason" in run("account", "topup", "debtor", "5", code=2).stderr


def test_hints_can_be_pasted_whatever_the_name_holds(run: Run) -> None:
    name = "Tom's [bold]bar[/bold]; ls"
    assert run("account", "create", name, "--low-balance", 0).stdout
    quoted = shlex.quote(name)
    assert f"bulksms key create {quoted}\n" in run("key", "list", name).stderr
    assert f"bulksms group create {quoted} NAME\n" in run("group", "list", name).stderr
    assert f"bulksms sender approve {quoted} 'A B'\n" in run("sender", "request", name, "A B").stderr


def test_suspending(run: Run, engine: Engine) -> None:
    run("account", "create", "late payer")
    for command, state, reason in (("suspend", "suspended", ["--reason", "unpaid"]), ("activate", "active", [])):
        run("account", command, "late payer", *reason)
        assert scalar(engine, "SELECT state FROM account WHERE name = 'late payer'") == state
    changes = as_json(run("audit-log", "late payer", "--action", "account", "--json"))
    kept = [(change["action"], change["reason"]) for change in changes[:2]]
    assert kept == [("account.activated", None), ("account.suspended", "unpaid")]


def test_the_secret_is_shown_once(run: Run) -> None:
    run("account", "create", "programmer")
    made = as_json(
        run("key", "create", "programmer", "--test", "--scope", "sms:read", "--expires-in-days", 7, "--json")
    )
    (listed,) = as_json(run("key", "list", "programmer", "--json"))
    assert (listed["id"], listed["test"], listed["scopes"]) == (made["api_key"], True, ["sms:read"])
    assert made["api_secret"] not in run("key", "list", "programmer").output
    assert "cannot be shown again" in run("key", "create", "programmer").stderr
    scopes = {each["id"]: each["scopes"] for each in as_json(run("key", "list", "programmer", "--json"))}
    assert sorted(*(each for key, each in scopes.items() if key != made["api_key"])) == sorted(DEFAULT_SCOPES)
    shown = as_json(run("account", "show", "programmer", "--json"))
    assert (shown["sandbox"], shown["test_credits"], shown["api_keys"]) == ("programmer (sandbox)", 1_000_000, 1)
    assert "(sandbox)" not in run("account", "list").stdout
    assert "sandbox" in run("account", "topup", "programmer (sandbox)", 5, "--reason", "x", code=1).stderr
    run("key", "create", "programmer", "--scope", "all", "--name", "full")
    assert set(SCOPES) in [set(each["scopes"]) for each in as_json(run("key", "list", "programmer", "--json"))]
    run("key", "revoke", made["api_key"])
    assert as_json(run("key", "list", "programmer", "--json"))[0]["revoked_at"]


def test_the_life_of_a_sender_id(run: Run) -> None:
    run("account", "create", "namer")
    run("sender", "request", "namer", "NAMER")
    assert as_json(run("sender", "list", "namer", "--status", "pending", "--json"))[0]["sender_id"] == "NAMER"
    run("sender", "approve", "namer", "NAMER")
    run("sender", "suspend", "namer", "NAMER", "--reason", "complaints")
    (row,) = as_json(run("sender", "list", "namer", "--json"))
    assert (row["state"], row["reason"]) == ("suspended", "complaints")
    run("sender", "reject", "namer", "NAMER", "--reason", "no")
    assert "is not a sender ID" in run("sender", "request", "namer", "MUCH TOO LONG", code=1).stderr


def test_groups_contacts_and_opt_outs(run: Run) -> None:
    run("account", "create", "lister")
    group = run("group", "create", "lister", "Customers").stdout.strip()
    assert "2 contacts added" in run("contact", "add", group, "254711000001", "254711000002").stderr
    assert "1 contact removed" in run("contact", "remove", group, "254711000001").stderr
    (row,) = as_json(run("group", "list", "lister", "--json"))
    assert (row["id"], row["contacts"]) == (group, 1)
    assert "gets nothing more" in run("suppression", "add", "lister", "254711000001").stderr
    assert as_json(run("suppression", "list", "lister", "--json"))[0]["phone"] == "254711000001"
    assert "can get messages again" in run("suppression", "remove", "lister", "254711000001").stderr
    run("group", "delete", group)
    assert as_json(run("group", "list", "lister", "--json")) == []


def test_an_opt_out_applies_to_a_category_and_a_sender_id(run: Run) -> None:
    run("account", "create", "scoper")
    one = ("scoper", "254711000001", "--category", "marketing", "--sender", "ACME")
    assert "gets no more marketing messages from the sender ID ACME" in run("suppression", "add", *one).stderr
    assert "was already on the list" in run("suppression", "add", *one).stderr
    assert "gets nothing more" in run("suppression", "add", "scoper", "254711000001").stderr

    def scopes() -> set[tuple[str, str]]:
        listed = as_json(run("suppression", "list", "scoper", "--json"))
        return {(each["category"], each["sender_id"]) for each in listed}

    assert scopes() == {("marketing", "ACME"), ("", "")}
    run("suppression", "remove", *one)
    assert scopes() == {("", "")}
    assert "was not on the list for that" in run("suppression", "remove", *one).stderr
    bad = run("suppression", "add", "scoper", "254711000001", "--sender", "MUCH TOO LONG", code=2).stderr
    assert "a short code of 3 to 7 digits" in bad


def test_a_job_that_is_set_aside_is_tried_again(run: Run, engine: Engine) -> None:
    assert "No job is set aside" in run("job", "list").stderr
    run("account", "create", "unlucky")
    group = UUID(run("group", "create", "unlucky", "Imported").stdout.strip())
    account = scalar(engine, "SELECT account_id FROM contact_group WHERE id = :id", id=group)
    made = begin_import(engine, account, group, None)
    keep_chunk(engine, made, 0, "254711000001\n")
    with engine.begin() as connection:
        queue_import(connection, account, made, 1, 13)
    job = Job("import")
    job.begin(made, account, None)
    for _ in range(MAX_FAILURES):
        failed(engine, job, ValueError("254711000001"), importer._set_aside)
    assert not import_chunk(engine)
    (shown,) = as_json(run("job", "list", "--json"))
    assert (shown["kind"], shown["subject"], shown["account"]) == ("import", str(made), "unlucky")
    assert "job retry" in run("doctor", code=1).stdout
    run("job", "retry", "import", made)
    assert import_chunk(engine)
    assert scalar(engine, "SELECT state FROM contact_import WHERE id = :id", id=made) == "completed"
    assert "No import" in run("job", "retry", "import", made, code=1).stderr
    assert scalar(engine, "SELECT count(*) FROM audit_log WHERE action = 'job.retried'") == 1


def import_file(run: Run, folder: Path, content: bytes, *more: object, code: int = 0) -> tuple[Result, str]:
    account = f"importer {folder.name}"
    run("account", "create", account)
    group = run("group", "create", account, "Imported").stdout.strip()
    file = folder / "contacts.csv"
    file.write_bytes(content)
    return run("group", "import", group, file, *more, code=code), group


def test_importing_contacts_with_bad_rows(run: Run, engine: Engine, tmp_path: Path) -> None:
    rows = [
        "name;Phone",
        "Ann;254711000001",
        "Bob;+254 711 000 002",
        ";",
        "",
        "Cid;254711000001",
        '"D;\nx";254711000003',
    ]
    rows += [f"E;{number}" for number in range(30)]
    rows.append("Ren\ufffd;254711000004")
    errors = tmp_path / "errors.csv"
    result, group = import_file(run, tmp_path, "\r\n".join(rows).encode(), "--errors", errors)
    assert "3 contacts added; 1 row skipped, the phone number was already there; 31 rows rejected." in result.stderr
    assert "line 9: '0': This is not an international number, and the account has no country" in result.stderr
    assert result.stderr.count("line ") == 20 and "and 11 more" in result.stderr
    assert scalar(engine, "SELECT array_agg(phone ORDER BY position) FROM contact WHERE group_id = :id", id=group) == [
        254711000001,
        254711000002,
        254711000003,
    ]
    with errors.open() as file:
        listed = list(csv.DictReader(file))
    assert len(listed) == 31
    assert [row["line"] for row in listed[:3]] == ["9", "10", "11"]


@pytest.mark.parametrize(
    "content",
    [
        b"254711000001\n254711000002",
        b"\xef\xbb\xbfphone,name\r\n254711000001,\xc3\xbf\r\n254711000002,x\r\n",
        "name\tphone\nÉ\t254711000001\nÉ\t254711000002\n".encode("utf-16"),
        b"msisdn\n254711000001\n\n254711000002\n",
    ],
)
def test_files_of_many_kinds_are_imported(run: Run, engine: Engine, tmp_path: Path, content: bytes) -> None:
    result, group = import_file(run, tmp_path, content)
    assert "2 contacts added.\n" in result.stderr
    assert scalar(engine, "SELECT contact_count FROM contact_group WHERE id = :id", id=group) == 2


def test_a_file_in_another_encoding_needs_the_charset_option(run: Run, engine: Engine, tmp_path: Path) -> None:
    content = b"phone,name\r\n254711000001,Jos\xe9\r\n"
    result, group = import_file(run, tmp_path, content, code=1)
    assert "--charset windows-1252" in result.stderr
    file = tmp_path / "contacts.csv"
    run("group", "import", group, file, "--charset", "windows-1252")
    assert scalar(engine, "SELECT fields->>'name' FROM contact WHERE group_id = :id", id=group) == "Jos\u00e9"


@pytest.mark.parametrize("content", [b"", b"name,city\nAnn,Rome\n", b"\0\0\0\n"])
def test_a_file_without_a_phone_fails(run: Run, tmp_path: Path, content: bytes) -> None:
    result, _ = import_file(run, tmp_path, content, code=1)
    assert "has no valid contact" in result.stderr or "is not CSV" in result.stderr


def test_an_import_is_committed_piece_by_piece_and_can_be_run_again(
    run: Run, engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(imports, "BLOCK", 130)
    monkeypatch.setattr(shared.contacts.text_stream, "CHUNK_CHARACTERS", 130)
    monkeypatch.setattr(shared.contacts.text_stream, "MAX_LINE_LENGTH", 1_000)
    content = "\n".join(str(254711000000 + number) for number in range(35)).encode()
    _, group = import_file(run, tmp_path, content + b"\n" + b"x" * 200_000, code=1)
    before = scalar(engine, "SELECT contact_count FROM contact_group WHERE id = :id", id=group)
    assert 20 < before < 35
    (tmp_path / "contacts.csv").write_bytes(content)
    progress = run("group", "import", group, tmp_path / "contacts.csv").stderr
    assert f"{35 - before} contact" in progress and f"; {before} rows skipped" in progress


def test_messages_to_a_phone_are_found(run: Run, service: Service) -> None:
    phone, scheduled = "99902004711", {"send_at": TOMORROW.isoformat()}
    first = service.bulk([phone, "254711000001"]).json
    second = service.send(phone, **scheduled).json
    found = as_json(run("message", "find", phone, "--account", service.account_id, "--json"))
    assert [row["send_id"] for row in found] == [second["send_id"], first["send_id"]]
    assert [row["message_id"] for row in found] == [second["message_id"], first["messages"][0]["message_id"]]
    assert [(row["status"], row["error"]) for row in found] == [("scheduled", None), ("failed", "invalid_recipient")]
    assert "No message" in run("message", "find", "254711999999").output
    assert "254711000001" in run("message", "find", "+254711000001", code=1).output
    service.post(f"/sends/{second['send_id']}/cancel")


def test_sends_are_listed_shown_and_watched(run: Run, service: Service) -> None:
    send = service.bulk(["254711000001", "99902000001"]).json["send_id"]
    listed = as_json(run("send", "list", "--account", service.account_id, "--json"))
    assert [(row["id"], row["accepted"], row["not_sent"]) for row in listed] == [(send, 2, 1)]
    shown = as_json(run("send", "show", send, "--json"))
    assert (shown["state"], shown["sent"], shown["failed"], shown["batches"]) == ("completed", 1, 1, "1 done")
    assert "completed: 1 sent, 1 failed" in run("send", "watch", send).stdout
    for command in ("show", "watch"):
        result = run("send", command, UUID(int=1), code=1)
        assert result.stderr.startswith("Error: There is no send")
        assert result.stdout == ""


def test_what_limits_a_send_is_shown(run: Run, service: Service) -> None:
    send = service.bulk(["254711000001"], **LATER).json["send_id"]
    assert as_json(run("send", "show", send, "--json"))["limited_by"] == "send_at"
    run("send", "cancel", send)
    assert as_json(run("send", "show", send, "--json"))["limited_by"] is None


def test_holding_and_releasing(run: Run, service: Service) -> None:
    send = service.bulk(["254711000001"], **LATER).json["send_id"]
    run("send", "hold", send, "--reason", "looks like fraud")
    assert "looks like fraud" in run("send", "list", "--open").stdout
    assert service.post(f"/sends/{send}/resume").status_code == 409
    assert "is held and cannot be held" in run("send", "hold", send, "--reason", "x", code=1).stderr
    make_due(service.engine, send)
    service.sweep()
    assert service.get(f"/sends/{send}").json["status"] == "held"
    run("send", "release", send)
    service.sweep()
    assert service.get(f"/sends/{send}").json["status"] == "completed"
    assert "is completed and cannot be released" in run("send", "release", send, code=1).stderr


def test_a_paused_send_is_still_paused_after_a_hold(run: Run, service: Service) -> None:
    send = service.bulk(["254711000001"], **LATER).json["send_id"]
    service.post(f"/sends/{send}/pause")
    run("send", "hold", send, "--reason", "x")
    run("send", "release", send)
    assert service.get(f"/sends/{send}").json["status"] == "paused"


def test_canceling(run: Run, service: Service) -> None:
    send = service.bulk(["254711000001"], **LATER).json["send_id"]
    run("send", "cancel", send)
    assert service.get("/balance").json["balance"] == 1000
    done = service.send().json["send_id"]
    assert "cannot be canceled" in run("send", "cancel", done, code=1).stderr


def test_a_send_named_twice_is_canceled_once(run: Run, service: Service) -> None:
    send = service.bulk(["254711000001"], **LATER).json["send_id"]
    assert "The send is canceled" in run("send", "cancel", send, send).stderr
    logged = "SELECT account_id FROM audit_log WHERE action = 'send.canceled' AND subject = :send"
    with service.engine.connect() as connection:
        assert connection.execute(text(logged), {"send": send}).scalars().all() == [service.account_id]


def test_canceling_locks_all_sends_before_their_account(run: Run, service: Service) -> None:
    """As workers do, which would otherwise wait for the account while the command waits for their send."""
    sends = [service.bulk(["254711000001"], **LATER).json["send_id"] for _ in range(2)]
    with ThreadPoolExecutor(1) as threads, service.engine.connect() as worker:
        worker.execute(text("SELECT 1 FROM send WHERE id = CAST(:send AS uuid) FOR UPDATE"), {"send": max(sends)})
        canceling = threads.submit(run, "send", "cancel", *sends)
        try:
            wait_until_somebody_waits(service.engine)
            worker.execute(
                text("SELECT 1 FROM account WHERE id = :account FOR UPDATE NOWAIT"), {"account": service.account_id}
            )
        finally:
            worker.rollback()
        assert "2 sends are canceled" in canceling.result(60).stderr


@pytest.mark.parametrize(
    ("outcome", "status", "balance"),
    [("sent", "sent", 999), ("delivered", "delivered", 999), ("not-sent", "failed", 1000)],
)
def test_resolving_a_doubt(run: Run, service: Service, outcome: str, status: str, balance: int) -> None:
    message = service.send("99906000001").json["message_id"]
    assert message in {row["message_id"] for row in as_json(run("doubt", "list", "--json"))}
    run("doubt", "resolve", message, outcome)
    assert service.get(f"/messages/{message}").json["status"] == status
    assert service.get("/balance").json["balance"] == balance
    assert f"is {status}" in run("doubt", "resolve", message, outcome, code=1).stderr


def test_resolving_the_doubts_of_a_send(run: Run, service: Service) -> None:
    send = service.bulk(["99906000001", "254711000001", "99906000002"]).json["send_id"]
    other = service.send("99906000003").json["message_id"]
    listed = as_json(run("doubt", "list", "--send", send, "--json"))
    assert "submitted no later than" in run("doubt", "list", "--send", send).stdout
    assert [row["phone"] for row in listed] == ["99906000001", "99906000002"]
    assert "2 messages: failed, credits released." in run("doubt", "resolve", "--send", send, "not-sent").stderr
    assert service.counts(send) == {"submitted": 3, "accepted": 3, "sent": 1, "failed": 2}
    assert service.get(f"/messages/{other}").json["status"] == "in_doubt"
    assert service.get("/balance").json == service.get("/balance").json | {"balance": 998, "reserved": 1}
    assert "None of these is in doubt" in run("doubt", "resolve", "--send", send, "not-sent", code=1).stderr


def test_resolving_the_doubts_of_a_file(run: Run, service: Service, tmp_path: Path) -> None:
    ids = [service.send("99906000001").json["message_id"] for _ in range(2)]
    known = service.send().json["message_id"]
    file = tmp_path / "ids"
    file.write_text(f"{ids[0]}\n\n{ids[1]}\nnonsense\n")
    assert "Line 4 is not a message id: 'nonsense'" in run("doubt", "resolve", "--file", file, "sent", code=1).stderr
    assert service.get(f"/messages/{ids[0]}").json["status"] == "in_doubt"
    file.write_text("\n".join([*ids, known, ids[0]]))
    result = run("doubt", "resolve", "--file", file, "delivered")
    assert "2 messages: charged as delivered." in result.stderr
    assert f"Message {known} is sent." in result.stderr
    assert {service.get(f"/messages/{message}").json["status"] for message in ids} == {"delivered"}
    assert "Name messages" in run("doubt", "resolve", "sent", code=2).stderr


def test_messages_to_unassigned_numbers_are_listed(run: Run, service: Service) -> None:
    messages = [Inbound("254711000000", "88888", "Hello"), Inbound("254711000001", "88888", "STOP")]
    with service.engine.begin() as connection:
        store(connection, "main", [*messages, Inbound("254711000002", "ACME", "Mine")])
    rows = as_json(run("inbound", "list", "--to", "88888", "--json"))
    assert [(row["phone"], row["message"], row["carrier"]) for row in rows] == [
        ("254711000001", "STOP", "main"),
        ("254711000000", "Hello", "main"),
    ]
    assert as_json(run("inbound", "list", "--before", rows[0]["id"], "--to", "88888", "--json")) == rows[1:]
    assert "Mine" not in run("inbound", "list").stdout
    (number,) = (row for row in as_json(run("inbound", "numbers", "--json")) if row["sent_to"] == "88888")
    assert (number["messages"], number["phones"]) == (2, 2)


def test_a_clean_audit(run: Run) -> None:
    assert "Clean" in run("audit").stderr
    assert as_json(run("audit", "--full", "--json")) == {"full": True, "breaches": [], "frozen": []}


def test_a_breach_of_an_accounts_credits_freezes_it(run: Run, service: Service) -> None:
    def change(by: int) -> None:
        with service.engine.begin() as connection:
            connection.execute(
                text("UPDATE account SET available = available + :by WHERE id = :id"),
                {"by": by, "id": service.account_id},
            )

    change(1)
    try:
        looked = run("audit", "--no-freeze", code=1)
        assert "available 1001 and reserved 0, by the ledger 1000 and 0" in looked.stdout
        assert service.send().status_code == 200
        found = as_json(run("audit", "--json", code=1))
        assert found["frozen"] == [service.account_id]
        assert {breach["rule"] for breach in found["breaches"]} == {"account_caches", "zero_sum"}
        assert service.send().json["code"] == "account_suspended"
        assert "is frozen" not in run("audit", code=1).stderr
    finally:
        change(-1)
    run("account", "activate", service.account_id)
    run("audit")


def findings(result: Result) -> dict[str, str]:
    return {finding["name"]: finding["outcome"] for finding in as_json(result)}


def test_the_doctor(run: Run, engine: Engine, redis_server: RedisServer) -> None:
    found = findings(run("doctor", "--json", code=1))
    # The server of the tests is fast and unsafe on purpose, and no worker runs.
    assert {name for name, outcome in found.items() if outcome == "wrong"} == {"durability", "workers"}
    with engine.begin() as connection:
        connection.execute(text("INSERT INTO lease VALUES ('worker:1', '1', now() + interval '1 minute')"))
    result = run("doctor", code=1)
    assert "1 running" in result.stdout and "power cut" in result.stdout
    with Redis.from_url(redis_server.url) as client:
        client.config_set("maxmemory-policy", "allkeys-lru")
        try:
            assert findings(run("doctor", "--json", code=1))["redis"] == "wrong"
        finally:
            client.config_set("maxmemory-policy", "noeviction")


def test_the_doctor_reports_where_messages_go(run: Run, tmp_path: Path) -> None:
    def carriers(**env: str) -> tuple[str, str]:
        (found,) = (row for row in as_json(run("doctor", "--json", code=1, **env)) if row["name"] == "carriers")
        return found["outcome"], f"{found['detail']} {found['remedy']}"

    outcome, finding = carriers()
    assert (outcome, "reaches no phone" in finding) == ("notice", True)
    outcome, finding = carriers(CARRIER="")
    assert (outcome, "Set CARRIERS_FILE" in finding) == ("wrong", True)
    file = tmp_path / "carriers.toml"
    file.write_text('[carrier.main]\nkind = "smpp"\nhost = "127.0.0.1"\nsystem_id = "a"\npassword = "b"\n')
    assert carriers(CARRIER="", CARRIERS_FILE=str(file)) == ("ok", f"main (1 carrier in {file}) ")
    file.write_text('[carrier.main]\nkind = "smtp"\n')
    outcome, finding = carriers(CARRIER="", CARRIERS_FILE=str(file))
    assert (outcome, "[carrier.main] needs a kind" in finding) == ("wrong", True)


@pytest.mark.parametrize(
    ("breaks", "mends", "problem"),
    [
        (["CONFIG SET maxmemory 1"], ["CONFIG SET maxmemory 0"], "out of memory"),
        (["REPLICAOF 127.0.0.1 1"], ["REPLICAOF NO ONE"], "a read-only replica"),
    ],
)
def test_the_doctor_writes_to_redis(
    run: Run, redis_server: RedisServer, breaks: list[str], mends: list[str], problem: str
) -> None:
    with Redis.from_url(redis_server.url) as client:
        for command in breaks:
            client.execute_command(*command.split())
        try:
            (found,) = (row for row in as_json(run("doctor", "--json", code=1)) if row["name"] == "redis")
        finally:
            for command in mends:
                client.execute_command(*command.split())
    assert (found["outcome"], found["detail"][: len(problem)]) == ("wrong", problem)


def test_the_doctor_says_what_a_redis_does_not_tell(run: Run, redis_server: RedisServer) -> None:
    with Redis.from_url(redis_server.url) as client:
        client.execute_command("ACL", "SETUSER", "default", "-config")
        try:
            (found,) = (row for row in as_json(run("doctor", "--json", code=1)) if row["name"] == "redis")
        finally:
            client.execute_command("ACL", "SETUSER", "default", "+config")
    assert (found["outcome"], "noeviction" in found["remedy"]) == ("notice", True)


def test_the_doctor_checks_a_broker_other_than_redis(run: Run) -> None:
    broker = f"amqp://nobody:password@127.0.0.1:{free_port()}//"
    result = run("doctor", "--json", code=1, BROKER_URL=broker)
    assert findings(result)["broker"] == "wrong"
    assert "password" not in result.output


def test_the_doctor_reports_doubts(run: Run, service: Service, engine: Engine) -> None:
    run("doubt", "resolve", service.send("99906000001").json["message_id"], "sent")
    service.bulk(["99906000001", "99906000002"])
    oldest = scalar(engine, "SELECT min(submitted_at) FROM doubt")
    (found,) = (row for row in as_json(run("doctor", "--json", code=1)) if row["name"] == "in doubt")
    count = scalar(engine, "SELECT count(*) FROM doubt")
    assert (found["outcome"], count >= 2) == ("notice", True)
    assert found["detail"] == f"{count} messages, the oldest since {oldest:%Y-%m-%d %H:%M:%S}Z"
    assert "bulksms doubt resolve" in found["remedy"] and "24 h after their validity" in found["remedy"]
    for send in {row["send_id"] for row in as_json(run("doubt", "list", "--json"))}:
        run("doubt", "resolve", "--send", send, "not-sent")
    assert findings(run("doctor", "--json", code=1))["in doubt"] == "ok"


def test_the_doctor_when_redis_is_away(run: Run) -> None:
    result = run("doctor", code=1, REDIS_URL=NOTHING)
    assert "Start Redis; check REDIS_URL" in result.stdout


def test_the_doctor_when_the_database_is_away_or_empty(run: Run, env: dict[str, str]) -> None:
    away = f"postgresql://nobody:secret@127.0.0.1:{free_port()}/none"
    result = run("doctor", code=1, DATABASE_URL=away)
    assert "Start Postgres; check DATABASE_URL. If DATABASE_URL is from var/env, source that again" in result.stdout
    elsewhere = away.replace("127.0.0.1", "localhost")
    assert "var/env" not in run("doctor", code=1, DATABASE_URL=elsewhere).stdout
    assert "secret" not in result.output
    assert "Run `bulksms doctor`." in run("account", "list", code=1, DATABASE_URL=away).stderr
    empty = env["DATABASE_URL"].rpartition("/")[0] + "/postgres"
    assert "bulksms migrate" in run("doctor", code=1, DATABASE_URL=empty).stdout
    assert "bulksms migrate" in run("account", "list", code=1, DATABASE_URL=empty).stderr


def test_migrating_twice_changes_nothing(run: Run) -> None:
    assert "is at revision" in run("migrate").stderr
    run("migrate")


def test_without_settings_it_suggests_what_to_run(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, env: dict[str, str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "make run" in run("account", "list", code=1, DATABASE_URL="").stderr
    assert "make run" in run("doctor", code=1, DATABASE_URL="").stdout


def test_the_installation_of_the_folder_is_used(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, env: dict[str, str], service: Service
) -> None:
    monkeypatch.chdir(tmp_path)
    local = Path(environment.LOCAL)
    local.parent.mkdir()
    local.write_text("".join(f"export {name}='{value}'\n" for name, value in env.items()))
    result = run("account", "list", "--json", DATABASE_URL="")
    assert "Settings from var/env" in result.stderr
    assert isinstance(as_json(result), list)
    found = find_installation({}, local)
    assert (found.source, found.data) == ("var/env", Path("var"))
    send = service.bulk(["254711000001"]).json["send_id"]
    for command in (("send", "watch", send), ("person", "operator", a_person(service).email, "admin", "--yes")):
        assert run(*command, DATABASE_URL="").stderr.count("Settings from") == 1
    assert "disk" in findings(run("doctor", "--json", code=1, DATABASE_URL=""))


def test_exports_are_read_as_a_shell_reads_them() -> None:
    assert read_exports("export A='x y'\nB=2 # b\n\nexport C='it'\"'\"'s'\n") == {"A": "x y", "B": "2", "C": "it's"}
    with pytest.raises(SettingsError, match="make run"):
        find_installation({}, Path("nowhere"))


def test_the_demo_is_made_once(
    engine: Engine, env: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, value in env.items():
        monkeypatch.setitem(os.environ, name, value)
    first = demo.ensure_demo("http://127.0.0.1:8000")
    assert json.loads(demo.FILE.read_text()) == first
    assert demo.FILE.stat().st_mode & 0o777 == 0o600
    second = demo.ensure_demo("http://127.0.0.1:9000")
    assert {**second, "sign_in_url": first["sign_in_url"]} == {**first, "base_url": "http://127.0.0.1:9000"}
    assert second["sign_in_url"] != first["sign_in_url"]
    demo.FILE.unlink()
    again = demo.ensure_demo("http://127.0.0.1:8000")
    assert again["api_key"] != first["api_key"]
    assert again["group_id"] == first["group_id"]
    assert scalar(engine, "SELECT available FROM account WHERE name = 'demo'") == 1_000_000
    assert scalar(engine, "SELECT contact_count FROM contact_group WHERE id = :id", id=first["group_id"]) == 1000


def make_due(engine: Engine, send: str) -> None:
    with engine.begin() as connection:
        connection.execute(text("UPDATE send SET send_at = now() WHERE id = :id"), {"id": send})
        connection.execute(text("UPDATE batch SET due_at = now() WHERE send_id = :id"), {"id": send})
