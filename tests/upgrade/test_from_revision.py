"""This code replaces that of an earlier revision under load: `make upgrade FROM=REVISION`.

The earlier code runs in a checkout and a virtual environment of its own, which UPGRADE_FROM names.
"""

import os
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from shared.audit.check import audit
from tests.harness.fetch import status_of
from tests.harness.house import wait_until
from tests.harness.receiver import Receiver, receiver
from tests.harness.releases import HERE, Installation, Release

pytestmark = pytest.mark.upgrade

CLIENTS = 4
LIST = 6_000
REQUESTS = 60
"""Of each client, before the next step."""


class Visitor(threading.Thread):
    """Opens a page of the consoles all the time, of each in turn, as a load balancer leads people to them."""

    def __init__(self, ports: list[int]) -> None:
        super().__init__(daemon=True)
        self.ports = ports
        self.statuses: Counter[int | None] = Counter()
        self._over = threading.Event()

    def run(self) -> None:
        while not self._over.wait(0.1):
            for port in list(self.ports):
                self.statuses[status_of(port, "/sign-in")] += 1

    def stop(self) -> None:
        """Stop visiting."""
        self._over.set()
        if self.is_alive():
            self.join(60)


@pytest.fixture
def installation(tmp_path: Path) -> Iterator[Installation]:
    (tmp_path / "house").mkdir()
    made = Installation(tmp_path / "house", SIMULATOR_RATE="1500", WEBHOOK_LOOPBACK="1")
    try:
        yield made
    finally:
        made.stop()


@pytest.fixture(name="there")
def _there() -> Iterator[Receiver]:
    with receiver() as made:
        yield made


def send_list(installation: Installation, number: int) -> str:
    """Returns the id of the send."""
    phones = [str(255_000_000_000 + LIST * number + each) for each in range(LIST)]
    return str(installation.post("/sms/send-bulk", sender_id="ACME", phones=phones, message="Hi")["send_id"])


def test_it_works(installation: Installation, there: Receiver) -> None:
    home = Path(os.environ["UPGRADE_FROM"]).resolve()
    before = Release(installation, home, "before", home / ".venv" / "bin")
    after = Release(installation, HERE, "after")
    assert before.revision <= after.revision
    visitor = Visitor([])
    try:
        before.migrate()
        assert installation.scalar("SELECT version_num FROM alembic_version") == before.revision
        before.start(workers=2)
        before.start_webhooks()
        if before.has_console:
            before.start_console()
            visitor.ports.append(before.console_port)
        before.new_account()
        installation.post("/webhooks", url=there.url, events=["message.delivered"])
        visitor.start()
        with installation.traffic(CLIENTS) as clients:

            def requests(what: str) -> None:
                tried = min(len(client.wanted) for client in clients)
                wait_until(lambda: min(len(each.wanted) for each in clients) > tried + REQUESTS, 120, what)

            send = send_list(installation, 0)
            requests("requests to the earlier release")
            assert installation.read_often(send) == {200}
            after.migrate()
            assert installation.scalar("SELECT version_num FROM alembic_version") == after.revision
            assert before.is_ready(), "a load balancer would take the running release out"
            assert installation.read_often(send) == {200}
            send_list(installation, 1)
            requests("requests to the earlier release on the new schema")
            after.start(workers=2)
            after.start_webhooks()
            after.start_console()
            visitor.ports.append(after.console_port)
            send_list(installation, 2)
            requests("requests to both")
            if before.has_console:
                visitor.ports.remove(before.console_port)
                wait_until(lambda: visitor.statuses, 20, "a visit")
            before.stop()
            send_list(installation, 3)
            requests("requests to this release")
        installation.wait_for_end(120)
        singles = sum(len(client.wanted) for client in clients)
        carried = installation.times_at_carrier()
        assert (len(carried), max(carried)) == (singles + 4 * LIST, 1)
        assert audit(installation.engine, full=True) == []
        wait_until(lambda: len({post.id for post in list(there.posts)}) >= len(carried), 180, "the events")
        assert len({post.payload["data"]["message_id"] for post in list(there.posts)}) == len(carried)
    finally:
        visitor.stop()
        before.stop()
        after.stop()
    assert set(visitor.statuses) == {200}
