"""Webhooks posted by a process of its own: a thousand of them while the secret changes, and while that process dies."""

import json
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from tests.harness.house import STEADY, House, house, wait_until
from tests.harness.pages import every
from tests.harness.receiver import Post, Receiver, receiver
from worker.webhooks.health import prefix

JAVASCRIPT = Path(__file__).parent / "standardwebhooks"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """The service, with webhooks that may go to this machine."""
    with house(tmp_path_factory.mktemp("house"), workers=1, WEBHOOK_LOOPBACK="1", **STEADY) as made:
        made.start_webhooks()
        yield made


@pytest.fixture
def there() -> Iterator[Receiver]:
    """A receiver of webhooks."""
    with receiver() as made:
        yield made


def pulled(service: House) -> set[str]:
    """The ids of all events of the account, as the stream has them."""
    return {event["event_id"] for event in every(service.get, "/events?limit=1000")}


class Customer:
    """Verifies with the secret that it has, as the library does, and refuses what does not fit."""

    def __init__(self, secret: str) -> None:
        self.secret = secret
        self.verified: list[dict[str, Any]] = []
        self.refused = 0
        self.goes_on = threading.Event()

    def __call__(self, post: Post) -> int:
        if len(self.verified) >= 300:
            self.goes_on.wait(60)
        secret = self.secret
        try:
            Webhook(secret).verify(post.body, post.headers)
        except WebhookVerificationError:
            self.refused += 1
            return 401
        headers = {name: value for name, value in post.headers.items() if name.startswith("webhook-")}
        self.verified.append({"secret": secret, "headers": headers, "body": post.body.decode()})
        return 204


def rotated_in_the_middle(service: House, there: Receiver, name: str) -> Customer:
    """1,000 events of an account, whose secret is another one from the 300th on."""
    service.new_account(name, sender=name)
    made = service.post("/webhooks", url=there.url, events=["message.sent", "message.delivered"])
    customer = there.respond = Customer(made["secret"])
    phones = [f"2547110{n:05d}" for n in range(500)]
    service.post("/sms/send-bulk", sender_id=name, phones=phones, message="Hi")
    wait_until(lambda: len(customer.verified) >= 300, 60, "300 events")
    customer.secret = service.post(f"/webhooks/{made['webhook_id']}/rotate-secret")["secret"]
    customer.goes_on.set()
    wait_until(lambda: len({each["headers"]["webhook-id"] for each in customer.verified}) == 1000, 180, "1,000 events")
    assert {each["secret"] for each in customer.verified} == {made["secret"], customer.secret}
    return customer


@pytest.mark.slow
def test_a_thousand_are_verified_while_the_secret_is_rotated(service: House, there: Receiver) -> None:
    customer = rotated_in_the_middle(service, there, "ROTATES")
    assert {each["headers"]["webhook-id"] for each in customer.verified} <= pulled(service)
    last = customer.verified[-1]
    with pytest.raises(WebhookVerificationError):
        Webhook(last["secret"]).verify(last["body"] + " ", last["headers"])


def test_nothing_is_lost_when_the_process_dies_while_it_posts(service: House, there: Receiver) -> None:
    service.new_account("DIES", sender="DIES")
    service.post("/webhooks", url=there.url)
    phones = [f"2547220{n:05d}" for n in range(300)]
    since = datetime.now(UTC) - timedelta(seconds=1)
    service.post("/sms/send-bulk", sender_id="DIES", phones=phones, message="Hi")
    wait_until(lambda: len(there.posts) >= 50, 60, "50 events")
    service.kill_webhooks()
    service.wait_for_end(60)
    service.start_webhooks()
    wait_until(lambda: len(pulled(service)) >= 601, 60, "the events in the stream")
    expected = pulled(service)
    assert len(expected) == 601
    wait_until(lambda: set(there.ids()) == expected, 120, "every event")
    webhook = service.get("/webhooks")["data"][0]["webhook_id"]
    service.post(f"/webhooks/{webhook}/recover", since=since.isoformat())
    wait_until(lambda: service.scalar("SELECT count(*) FROM delivery WHERE state <> 'delivered'") == 0, 90, "the rest")
    bodies = {post.id: post.body for post in there.posts}
    assert all(bodies[post.id] == post.body for post in there.posts if post.payload["type"].startswith("message."))


@pytest.mark.npm
def test_the_javascript_library_verifies_them_too(service: House, there: Receiver, tmp_path: Path) -> None:
    customer = rotated_in_the_middle(service, there, "SCRIPT")
    folder = tmp_path / "standardwebhooks"
    shutil.copytree(JAVASCRIPT, folder)
    subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=folder, check=True, timeout=120)
    output = subprocess.run(
        ["node", "verify.js"],
        cwd=folder,
        input="\n".join(json.dumps(each) for each in customer.verified),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (output.returncode, output.stdout.split()) == (0, [str(len(customer.verified)), "verified"]), output.stderr


def test_the_health_check_knows_whether_this_machines_process_reports(service: House) -> None:
    def check() -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "worker.webhooks.health"]
        return subprocess.run(command, env=service.env, capture_output=True, text=True, timeout=180, check=False)

    wait_until(lambda: check().returncode == 0, 60, "a report")
    with service.engine.begin() as connection:
        connection.execute(text("UPDATE lease SET held_until = now() + interval '1 hour' WHERE name LIKE 'webhooks:%'"))
        connection.execute(text("UPDATE lease SET name = replace(name, 'webhooks:', 'webhooks:another-')"))
    service.kill_webhooks()
    service.execute("DELETE FROM lease WHERE starts_with(name, :mine)", mine=prefix())
    ended = check()
    assert (ended.returncode, "has reported for 10 seconds" in ended.stderr) == (1, True)
    service.start_webhooks()
