"""The next release replaces this one while requests come in: none fails, and nobody gets a message twice.

`make upgrade` does the same with the code of an earlier revision.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from shared.audit.check import audit
from tests.harness.house import STEADY, wait_until
from tests.harness.releases import HERE, Installation, Release, next_release

pytestmark = pytest.mark.slow
CLIENTS = 3
LIST = 3_000


@pytest.fixture
def installation(tmp_path: Path) -> Iterator[Installation]:
    (tmp_path / "house").mkdir()
    made = Installation(tmp_path / "house", SIMULATOR_RATE="1500", **STEADY)
    try:
        yield made
    finally:
        made.stop()


def phones_of(number: int) -> list[str]:
    return [str(255_000_000_000 + LIST * number + each) for each in range(LIST)]


def test_it_works(installation: Installation, tmp_path: Path) -> None:
    before, after = Release(installation, HERE, "before"), Release(installation, next_release(tmp_path), "after")
    lists = []
    try:
        before.migrate()
        before.start(workers=2)
        installation.new_account()
        with installation.traffic(CLIENTS) as clients:
            lists.append(installation.post("/sms/send-bulk", sender_id="ACME", phones=phones_of(0), message="Hi"))
            assert installation.read_often(lists[0]["send_id"]) == {200}
            after.migrate()
            assert installation.scalar("SELECT version_num FROM alembic_version") == after.revision
            assert before.is_ready(), "a load balancer would take the running release out"
            assert installation.read_often(lists[0]["send_id"]) == {200}
            sent = len(installation.times_at_carrier())
            wait_until(
                lambda: len(installation.times_at_carrier()) > sent, 60, "what the running release sends afterwards"
            )
            after.start(workers=2)
            lists.append(installation.post("/sms/send-bulk", sender_id="ACME", phones=phones_of(1), message="Hi"))
            tried = min(len(client.wanted) for client in clients)
            wait_until(lambda: min(len(client.wanted) for client in clients) > tried + 20, 60, "requests to both")
            before.stop()
            tried = min(len(client.wanted) for client in clients)
            wait_until(
                lambda: min(len(client.wanted) for client in clients) > tried + 20, 60, "requests to the new one"
            )
        installation.wait_for_end(90)
        accepted = sum(len(client.wanted) for client in clients) + len(lists) * LIST
        carried = installation.times_at_carrier()
        assert (len(carried), max(carried)) == (accepted, 1)
        assert audit(installation.engine, full=True) == []
    finally:
        before.stop()
        after.stop()


def test_the_release_before_can_take_over_again(installation: Installation, tmp_path: Path) -> None:
    before, after = Release(installation, HERE, "before"), Release(installation, next_release(tmp_path), "after")
    try:
        after.migrate()
        before.migrate()
        assert installation.scalar("SELECT version_num FROM alembic_version") == after.revision >= before.revision
        before.start(workers=1)
        installation.new_account()
        send = installation.post("/sms/send", sender_id="ACME", phone="254711000000", message="Hi")["send_id"]
        wait_until(lambda: installation.get(f"/sends/{send}")["counts"]["delivered"] == 1, 60, "its message")
    finally:
        before.stop()
