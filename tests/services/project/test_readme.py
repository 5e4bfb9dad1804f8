"""What the README and the docs say can be pasted works when it is pasted, and what they say of phones happens."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bulksms.local.ports import free_port
from tests.harness.house import STEADY, House, house, wait_until

pytestmark = pytest.mark.slow
PAUSE = "sleep 3\n"
"""Of a reader who pastes line by line."""
README, FIRST_SENDS, CONTACTS, WEBHOOK_GUIDE, ACCOUNTS, OPERATOR_API = (
    Path(page).read_text()
    for page in (
        "README.md",
        "docs/guides/first-send.md",
        "docs/guides/contacts.md",
        "docs/guides/webhooks.md",
        "docs/operating/accounts.md",
        "docs/reference/operator-api.md",
    )
)


def blocks(language: str, page: str) -> list[str]:
    """The page's code of a language."""
    return re.findall(rf"```{language}\n(.*?)```", page, re.S)


(FIRST,) = blocks("sh", README)
FIRST_AGAIN, MORE = blocks("sh", FIRST_SENDS)
(PERSONAL,) = blocks("sh", CONTACTS)
SENT_AS_SHOWN, REFUSED_AS_SHOWN = map(json.loads, blocks("json", FIRST_SENDS))
(WEBHOOKS,) = blocks("sh", WEBHOOK_GUIDE)
(EVENT_AS_SHOWN,) = map(json.loads, blocks("json", WEBHOOK_GUIDE))
OPERATOR, ONBOARD, RULES, LIMIT, CREDIT, REMOVE = blocks("sh", ACCOUNTS)
OPERATOR_KEYS, OPERATOR_TOKEN = blocks("sh", OPERATOR_API)
(RECEIVER,) = (code for code in blocks("python", WEBHOOK_GUIDE) if "HTTPServer" in code)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with house(tmp_path_factory.mktemp("house"), workers=1, WEBHOOK_LOOPBACK="1", **STEADY) as made:
        made.start_webhooks()
        made.new_account("demo", 1_000, sender="DEMO")
        yield made


@pytest.fixture
def demo(service: House) -> dict[str, str]:
    """What `make run` writes into var/demo.json."""
    return {
        "base_url": f"http://127.0.0.1:{service.port}",
        "api_key": service.key.api_key,
        "api_secret": service.key.api_secret,
        "sender_id": "DEMO",
        "group_id": service.new_group(service.scalar("SELECT id FROM account WHERE name = 'demo'"), 5),
        "sign_in_url": "http://127.0.0.1:8001/sign-in/link/smsl_x",
    }


def shape(value: Any) -> Any:
    """The keys of an object, in order, with the types of their values; those that are null have none."""
    if isinstance(value, dict):
        return [(key, shape(each)) for key, each in value.items()]
    return type(value)


def paste(service: House, script: str, folder: Path) -> str:
    """Run it as pasted into a shell of that folder. Returns what it printed."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    ran = subprocess.run(
        ["bash", "-euc", script],
        cwd=folder,
        env={**service.env, "PATH": path},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_the_first_sends(service: House, demo: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "var").mkdir()
    (tmp_path / "var" / "demo.json").write_text(json.dumps(demo))
    before = service.get("/balance")["balance"]
    lines = [json.loads(line) for line in paste(service, FIRST + MORE, tmp_path).splitlines()]
    sent, listed, bulk, group, sends = lines
    assert shape(sent) == shape(SENT_AS_SHOWN)
    assert sent["message_id"] in [message["message_id"] for message in listed["data"]]
    assert bulk["counts"] == bulk["counts"] | {"submitted": 3, "accepted": 2, "invalid": 1}
    assert group["counts"]["accepted"] == 5
    assert [send["kind"] for send in sends["data"]][:3] == ["group", "bulk", "single"]
    path = f"/messages/{sent['message_id']}"
    wait_until(lambda: service.get(path)["status"] == "delivered", 60, "the receipt")
    assert service.get("/balance")["balance"] == before - 1 - 2 - 5


def test_personal_messages(service: House, demo: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "var").mkdir()
    (tmp_path / "var" / "demo.json").write_text(json.dumps(demo))
    bulk, added, group = (json.loads(line) for line in paste(service, FIRST + PERSONAL, tmp_path).splitlines()[2:])
    assert (bulk["counts"]["accepted"], added["counts"]["added"], group["counts"]["accepted"]) == (2, 1, 6)
    service.wait_for_end(60)
    assert texts(service, bulk) == ["Hello Ann", "Hello Ben"]
    assert texts(service, group) == ["Hello Cid", *["Hello friend"] * 5]
    assert {service.get(f"/sends/{send['send_id']}")["category"] for send in (bulk, group)} == {"marketing"}


def as_soon_as(word: str, script: str) -> str:
    """The script, in which the pause ends when the command after it prints the word ten times in a row.

    It then has found all processes ready: each answers some.
    """
    before, pause, after = script.partition(PAUSE)
    assert pause
    command = after.splitlines()[0].removesuffix("; echo")
    ready = f"ready() {{ for _ in $(seq 10); do {command} | grep -q '{word}' || return 1; done; }}"
    return f"{before}{ready}\nuntil ready; do sleep 0.1; done\n{after}"


def examples(service: House, demo: dict[str, str], folder: Path, page: str, word: str = "") -> list[Any]:
    """What the examples of a guide print, pasted after those of the first send. Their pause ends with the `word`."""
    (folder / "var").mkdir()
    (folder / "var" / "demo.json").write_text(json.dumps(demo))
    script = "".join(blocks("sh", Path(f"docs/guides/{page}.md").read_text()))
    script = as_soon_as(word, script) if word else script
    assert PAUSE not in script
    return [json.loads(line) for line in paste(service, FIRST + script, folder).splitlines()[2:]]


def test_quotes(service: House, demo: dict[str, str], tmp_path: Path) -> None:
    curly, plain = examples(service, demo, tmp_path, "text-and-cost")
    assert (curly["segments"]["encoding"], plain["segments"]["encoding"]) == ("ucs2", "gsm7")
    assert curly["encoding"]["gsm7_alternative"]["text"] == "It's ready"


def test_one_time_passwords(service: House, demo: dict[str, str], tmp_path: Path) -> None:
    started, checked = examples(service, demo, tmp_path, "one-time-passwords")
    assert (started["status"], started["phone"]) == ("pending", "254711000031")
    assert (checked["verification_id"], checked["status"]) == (started["verification_id"], "pending")


def test_what_happened_to_a_message(service: House, demo: dict[str, str], tmp_path: Path) -> None:
    sent, found, codes, usage, ledger = examples(service, demo, tmp_path, "troubleshooting", '"failed"')
    (message,) = found["data"]
    assert (message["message_id"], message["status"]) == (sent["message_id"], "failed")
    assert message["error"]["code"] in [each["code"] for each in codes["data"]]
    assert "data" in usage and len(ledger["data"]) == 5


def test_a_customer_is_onboarded(service: House, tmp_path: Path) -> None:
    made = paste(service, OPERATOR_KEYS.splitlines()[0], tmp_path)
    key, secret = (re.search(rf"\b{name}_\w+", made) for name in ("opk", "ops"))
    assert key is not None and secret is not None, made
    script = OPERATOR_TOKEN.replace("opk_your-key", key[0]).replace("its-secret", secret[0]) + ONBOARD
    here = (
        script.replace("127.0.0.1:8000", f"127.0.0.1:{service.port}")
        .replace('"acme"', '"other"')
        .replace('"ACME"', '"OTHER"')
    )
    _, top_up, approved, new_key = (json.loads(line) for line in paste(service, here, tmp_path).splitlines())
    assert top_up["credits"] == 1000
    assert (approved["sender_id"], approved["status"]) == ("OTHER", "approved")
    assert new_key["api_secret"]


def texts(service: House, send: dict[str, Any]) -> list[str]:
    """The texts of a send's messages."""
    ids = [message["message_id"] for message in service.get(f"/sends/{send['send_id']}/messages")["data"]]
    return sorted(service.get(f"/messages/{each}")["text"] for each in ids)


def test_webhooks(service: House, demo: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "var").mkdir()
    (tmp_path / "var" / "demo.json").write_text(json.dumps(demo))
    port = str(free_port())
    received = tmp_path / "received"
    with (
        received.open("w") as output,
        subprocess.Popen([sys.executable, "-c", RECEIVER.replace("9000", port)], stdout=output) as receiver,
    ):
        try:
            script = as_soon_as("message.delivered", WEBHOOKS.replace("9000", port))
            pasted = paste(service, FIRST + script, tmp_path)
            webhook, sent, pulled = (json.loads(line) for line in pasted.splitlines()[2:])
            assert webhook["secret"].startswith("whsec_")
            wait_until(lambda: "message.delivered" in received.read_text(), 60, "the event")
        finally:
            receiver.terminate()
    posted = [json.loads(line) for line in received.read_text().splitlines()]
    assert sent["message_id"] in [event["data"]["message_id"] for event in posted]
    assert shape(EVENT_AS_SHOWN) in [shape(event) for event in posted]
    assert "data" in pulled


def test_the_operators_sequence(service: House, tmp_path: Path) -> None:
    printed = paste(service, OPERATOR, tmp_path)
    key, secret = (re.search(rf"\b{name}_\w+", printed) for name in ("smsk", "smss"))
    assert key is not None
    assert secret is not None
    credentials = {"api_key": key[0], "api_secret": secret[0]}
    token = service.post("/auth/token", **credentials)["access_token"]
    body = {"sender_id": "ACME", "phone": "254711000009", "message": "Hello"}
    status, response = service.try_request("POST", "/sms/send", body, {"Authorization": f"Bearer {token}"})
    assert (status, response.get("balance")) == (200, 999)
    paste(service, RULES, tmp_path)
    paste(service, CREDIT, tmp_path)
    limited = paste(service, LIMIT, tmp_path)
    assert re.search(r"spend day\W+5,?000", limited)
    service.wait_for_end(60)
    paste(service, REMOVE, tmp_path)
    assert service.scalar("SELECT retention_days FROM account WHERE name = 'acme' AND state = 'closed'") == 30


def test_each_phone_of_the_table_ends_as_it_says(service: House) -> None:
    table = dict(re.findall(r"^\| `(999\d\d)…` \| [^|]+ \| `(\w+)` \|", FIRST_SENDS, re.M))
    assert len(table) == 10
    phones = {f"{phone}000001": status for phone, status in table.items()}
    send = service.post("/sms/send-bulk", sender_id="DEMO", phones=list(phones), message="Hello")["send_id"]
    service.wait_for_end(60)

    def statuses() -> dict[str, str]:
        return {row["phone"]: row["status"] for row in service.get(f"/sends/{send}/messages")["data"]}

    wait_until(lambda: statuses() == phones, 60, "the statuses")
