"""The passwords of Postgres and Redis are changed while the service runs."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from redis import Redis
from redis.exceptions import AuthenticationError
from sqlalchemy import text
from sqlalchemy.engine import make_url

from bulksms.local.ports import LOOPBACK
from tests.faults.traffic import Traffic
from tests.harness.house import STEADY, STOP_SECONDS, House, wait_until

pytestmark = pytest.mark.slow
OTHERS = (
    "SELECT pid FROM pg_stat_activity WHERE usename = session_user AND application_name LIKE 'bulksms-%'"
    " AND backend_start > '{since}'"
)


@pytest.fixture
def service(tmp_path: Path) -> Iterator[House]:
    """A service that reads the database's password from a file."""
    made = House(tmp_path, durable=True, **STEADY)
    try:
        url = make_url(made.postgres.url)
        write_password(tmp_path, url.port, str(url.password))
        without = url._replace(password=None).set(query={"passfile": str(tmp_path / "pgpass")})
        made.env["DATABASE_URL"] = without.render_as_string(hide_password=False)
        made.start(workers=1)
        made.new_account()
        yield made
    finally:
        made.stop()


def write_password(folder: Path, port: int | None, password: str) -> None:
    path = folder / "pgpass"
    path.touch(mode=0o600)
    path.write_text(f"{LOOPBACK}:{port}:*:*:{password}\n")


def test_the_databases_without_a_restart(service: House) -> None:
    traffic = Traffic(service, 254_711_000_000, "change")
    traffic.start()
    try:
        wait_until(lambda: len(traffic.wanted) > 10, 60, "the first requests")
        write_password(service.folder, service.postgres.port, "another-password")
        service.execute("ALTER ROLE bulksms PASSWORD 'another-password'")
        tried = len(traffic.wanted)
        wait_until(lambda: len(traffic.wanted) > tried + 20, 60, "requests after the change")
    finally:
        traffic.stop()
    assert [wanted.tries for wanted in traffic.wanted if wanted.tries[0].status != 200] == []
    since = service.scalar("SELECT clock_timestamp()")
    with service.engine.begin() as connection:  # whoever wants a connection from now on needs the new password
        connection.execute(
            text(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE usename = session_user AND pid <> pg_backend_pid()"
            )
        )
    wait_until(lambda: traffic.attempt(traffic.wanted[0]).status == 200, 60, "the API")
    traffic.settle()
    service.wait_for_end()
    assert service.scalar(f"SELECT count(*) FROM ({OTHERS.format(since=since)}) AS s") > 0
    assert service.most_submits() == 1


def test_redis_has_two_for_a_time(service: House) -> None:
    url = make_url(service.redis.url)
    with Redis.from_url(service.redis.url) as admin:
        admin.execute_command("ACL", "SETUSER", "default", ">another-password")
        newer = url.set(password="another-password").render_as_string(hide_password=False)
        service.env |= {"REDIS_URL": newer, "BROKER_URL": newer}
        service.start_workers(1)
        assert service.workers.pop(0).stop(timeout=STOP_SECONDS), "the worker with the old password"
        assert service.api is not None and service.api.stop(timeout=STOP_SECONDS)
        service.start_api()
        admin.execute_command("ACL", "SETUSER", "default", f"<{url.password}")
        admin.execute_command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
    with Redis.from_url(service.redis.url) as old, pytest.raises(AuthenticationError):
        old.ping()
    send = service.post("/sms/send", sender_id="ACME", phone="254711000000", message="Hi")["send_id"]
    wait_until(lambda: service.get(f"/sends/{send}")["counts"]["delivered"] == 1, 60, "the message")
    with Redis.from_url(newer) as now:
        wait_until(lambda: any(each["cmd"] == "brpop" for each in now.client_list()), 60, "the worker's consumer")
        now.execute_command("ACL", "SETUSER", "default", f">{url.password}")
