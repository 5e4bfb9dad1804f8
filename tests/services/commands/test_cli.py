"""The operator's command line."""

import csv
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID

import pytest
from click.testing import Result
from redis import Redis
from sqlalchemy import Engine, text

from bulksms.cli import main
from bulksms.environment import LOCAL, find_installation
from bulksms.local.ports import free_port
from bulksms.local.redis import RedisServer
from shared.contacts.imports import begin_import, keep_chunk, queue_import
from shared.job_failures import MAX_FAILURES, Job, failed
from shared.scopes import DEFAULT_SCOPES, SCOPES
from tests.harness.database import wait_until_somebody_waits
from tests.harness.people import a_person
from tests.harness.service import Service
from tests.harness.sql import Database
from tests.services.commands.conftest import Run, as_json
from worker.jobs import import_contacts as importer
from worker.jobs.import_contacts import import_chunk

TOMORROW = datetime.now(UTC) + timedelta(days=1)
LATER = {"send_at": TOMORROW.isoformat(), "expires_at": (TOMORROW + timedelta(days=1)).isoformat()}


def test_every_command_explains_itself(run: Run) -> None:
    for name, command in main.commands.items():
        assert run(name, "--help").stdout
        for part in getattr(command, "commands", {}):
            assert run(name, part, "--help").stdout


def test_credits_are_adjusted_within_the_credit_limit(run: Run) -> None:
    run("account", "create", "debtor")
    adjust = "account", "adjust", "debtor", -30, "--reason", "x", "--key", "ticket-7"
    assert "Raise the credit limit" in run(*adjust, code=1).stderr
    run("account", "set", "debtor", "--credit-limit", 40, "--spend-threshold", 5)
    assert "Adjusted by -30 credits" in run(*adjust).stderr
    again = run(*adjust)
    assert "nothing was changed" in again.stderr and again.stdout == "10\n"
    run("account", "set", "debtor", "--verification", '{"max_sends": 3}')
    assert "from 1 to 10" in run("account", "set", "debtor", "--verification", '{"max_sends": 0}', code=1).output
    assert "Give JSON" in run("account", "set", "debtor", "--verification", "{", code=2).output
    run("account", "set", "debtor", "--verification", "none")
    run("account", "set", "debtor", "--spend-threshold", 0)
    shown = as_json(run("account", "show", "debtor", "--json"))
    assert [shown[name] for name in ("available", "credit_limit", "balance", "spend_threshold")] == [-30, 40, 10, None]


def test_a_mistake_prints_one_sentence_and_fails(run: Run) -> None:
    result = run("account", "topup", "nobody", 5, "--reason", "x", code=1)
    assert result.stderr == "Error: There is no account 'nobody'. `bulksms account list` shows them all.\n"


def test_a_statement_of_an_account(run: Run) -> None:
    run("account", "create", "monthly")
    run("account", "topup", "monthly", 500, "--reason", "invoice 7")
    month = f"{datetime.now(UTC):%Y-%m}"
    rows = as_json(run("statement", "monthly", month, "--json"))
    assert [(row["kind"], row["credits"]) for row in rows] == [("opening", 0), ("topup", 500), ("closing", 500)]
    assert "not closed yet" in run("statement", "monthly", month).stdout
    assert "no statement of '2020-01'" in run("statement", "monthly", "2020-01", code=1).stderr


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


def test_a_job_that_is_set_aside_is_tried_again(run: Run, engine: Engine) -> None:
    assert "No job is set aside" in run("job", "list").stderr
    run("account", "create", "unlucky")
    group = UUID(run("group", "create", "unlucky", "Imported").stdout.strip())
    account = Database(engine).scalar("SELECT account_id FROM contact_group WHERE id = :id", id=group)
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
    assert Database(engine).scalar("SELECT state FROM contact_import WHERE id = :id", id=made) == "completed"
    assert "No import" in run("job", "retry", "import", made, code=1).stderr
    assert Database(engine).scalar("SELECT count(*) FROM audit_log WHERE action = 'job.retried'") == 1


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
    added = "SELECT phone FROM contact WHERE group_id = :id ORDER BY position"
    assert Database(engine).scalars(added, id=group) == [254711000001, 254711000002, 254711000003]
    with errors.open() as file:
        listed = list(csv.DictReader(file))
    assert len(listed) == 31
    assert [row["line"] for row in listed[:3]] == ["9", "10", "11"]


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


def test_a_clean_audit(run: Run) -> None:
    assert "Clean" in run("audit").stderr
    assert as_json(run("audit", "--full", "--json")) == {"full": True, "breaches": [], "frozen": []}


def test_a_breach_of_an_accounts_credits_freezes_it(run: Run, service: Service) -> None:
    def change(by: int) -> None:
        service.execute("UPDATE account SET available = available + :by WHERE id = :id", by=by, id=service.account_id)

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
    Database(engine).execute("DELETE FROM audit_result")  # of breaches that other tests have made
    found = findings(run("doctor", "--json", code=1))
    # The server of the tests is fast and unsafe on purpose, and no worker runs.
    assert {name for name, outcome in found.items() if outcome == "wrong"} == {"durability", "workers"}
    Database(engine).execute("INSERT INTO lease VALUES ('worker:1', '1', now() + interval '1 minute')")
    result = run("doctor", code=1)
    assert "1 running" in result.stdout and "power cut" in result.stdout
    with Redis.from_url(redis_server.url) as client:
        client.config_set("maxmemory-policy", "allkeys-lru")
        try:
            assert findings(run("doctor", "--json", code=1))["redis"] == "wrong"
        finally:
            client.config_set("maxmemory-policy", "noeviction")


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


def test_the_doctor_checks_a_broker_other_than_redis(run: Run) -> None:
    broker = f"amqp://nobody:password@127.0.0.1:{free_port()}//"
    result = run("doctor", "--json", code=1, BROKER_URL=broker)
    assert findings(result)["broker"] == "wrong"
    assert "password" not in result.output


def test_the_doctor_when_the_database_is_away_or_empty(run: Run, environment: dict[str, str]) -> None:
    away = f"postgresql://nobody:secret@127.0.0.1:{free_port()}/none"
    result = run("doctor", code=1, DATABASE_URL=away)
    assert "Start Postgres; check DATABASE_URL. If DATABASE_URL is from var/env, source that again" in result.stdout
    elsewhere = away.replace("127.0.0.1", "localhost")
    assert "var/env" not in run("doctor", code=1, DATABASE_URL=elsewhere).stdout
    assert "secret" not in result.output
    assert "Run `bulksms doctor`." in run("account", "list", code=1, DATABASE_URL=away).stderr
    empty = environment["DATABASE_URL"].rpartition("/")[0] + "/postgres"
    assert "bulksms migrate" in run("doctor", code=1, DATABASE_URL=empty).stdout
    assert "bulksms migrate" in run("account", "list", code=1, DATABASE_URL=empty).stderr


def test_without_settings_it_suggests_what_to_run(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, environment: dict[str, str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "make run" in run("account", "list", code=1, DATABASE_URL="").stderr
    assert "make run" in run("doctor", code=1, DATABASE_URL="").stdout


def test_the_installation_of_the_folder_is_used(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], service: Service
) -> None:
    monkeypatch.chdir(tmp_path)
    local = Path(LOCAL)
    local.parent.mkdir()
    local.write_text("".join(f"export {name}='{value}'\n" for name, value in environment.items()))
    result = run("account", "list", "--json", DATABASE_URL="")
    assert "Settings from var/env" in result.stderr
    assert isinstance(as_json(result), list)
    found = find_installation({}, local)
    assert (found.source, found.data) == ("var/env", Path("var"))
    send = service.bulk(["254711000001"]).json["send_id"]
    for command in (("send", "watch", send), ("person", "operator", a_person(service).email, "admin", "--yes")):
        assert run(*command, DATABASE_URL="").stderr.count("Settings from") == 1
    assert "disk" in findings(run("doctor", "--json", code=1, DATABASE_URL=""))


def make_due(engine: Engine, send: str) -> None:
    with engine.begin() as connection:
        connection.execute(text("UPDATE send SET send_at = now() WHERE id = :id"), {"id": send})
        connection.execute(text("UPDATE batch SET due_at = now() WHERE send_id = :id"), {"id": send})


def test_the_margin_is_shown_by_the_chosen_dimensions(run: Run, service: Service) -> None:
    values = "(:account, '2026-03-01T09:00Z', 'KE', 'one', true, 4, 3, 8, false)"
    service.execute(f"INSERT INTO margin VALUES {values}", account=service.account_id)
    days = ("--since", "2026-03-01", "--until", "2026-03-01")
    (row,) = as_json(run("margin", *days, "--by", "country", "--json"))
    assert row == {"country": "KE", "messages": 4, "credits": 3, "cost": 8, "margin": -5, "messages_without_cost": 0}
    assert "one" in run("margin", *days).stdout
    assert "is not one of" in run("margin", "--by", "sender_id", code=2).stderr


def test_the_doctor_when_redis_is_away(run: Run) -> None:
    result = run("doctor", code=1, REDIS_URL="redis://127.0.0.1:1/0")
    assert "Start Redis; check REDIS_URL" in result.stdout
