"""Reports are read from a real standby while it is close to the primary, and from the primary otherwise."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import Connection, Engine, text

from api.http.replica_reads import ReplicaReads
from bulksms.local.ports import LOOPBACK
from shared.db.connection import make_engine
from shared.db.replica import NoReplica, Replica, lag_of
from shared.health.replica import check_replica
from shared.observability.metrics import PROCESS
from tests.harness.database import dispose
from tests.harness.house import wait_until
from tests.harness.servers import make_migrated_postgres
from tests.harness.service import Service
from tests.harness.sql import Database
from tests.harness.standby import make_standby

pytestmark = pytest.mark.slow

MAX_LAG = 3600.0
COUNT = text(
    """
    INSERT INTO usage (account_id, began_at, sender_id, lane, country, status, messages, credits)
    VALUES (:account, date_trunc('hour', now()), :sender, 1, 'KE', 'sent', 1, 1)
    """
)
FINISH_EARLIER = text("UPDATE send SET completed_at = completed_at - interval '2 hours' WHERE id = :send")
IN_RECOVERY = text("SELECT pg_is_in_recovery()")
CSV = {"Accept": "text/csv"}


class Servers(Database):
    """A primary with its standby."""

    def __init__(self, folder: Path) -> None:
        self.primary = make_migrated_postgres(folder, durable=False)
        self.primary.start()
        self.primary.stop()
        self.standby = make_standby(self.primary, self.primary.port)
        self.primary.start()
        self.standby.start()
        super().__init__(make_engine(self.primary.url))

    def replay(self, function: str) -> None:
        """Call a function that controls the replay of the standby."""
        with psycopg.connect(f"host={LOOPBACK} port={self.standby.port} user=postgres dbname=bulksms") as connection:
            connection.execute(f"SELECT {function}()".encode())

    def stop(self) -> None:
        dispose(self.engine)
        self.standby.stop()
        self.primary.stop()


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[Servers]:
    made = Servers(tmp_path)
    try:
        yield made
    finally:
        made.stop()


@pytest.fixture
def replica(servers: Servers) -> Iterator[Replica]:
    """The replica, checked only when the test says so."""
    engine = make_engine(servers.standby.url, standby=True)
    yield Replica(servers.engine, engine, MAX_LAG)
    engine.dispose()


def is_close(replica: Replica) -> bool:
    replica.check()
    return replica.is_close()


def from_replica(connection: Connection) -> bool:
    return bool(connection.execute(IN_RECOVERY).scalar())


def answered(database: str) -> float:
    return PROCESS.get_sample_value("bulksms_reports_total", {"database": database}) or 0.0


def senders(service: Service) -> list[str]:
    return [line.split(",")[1] for line in service.get("/usage?by=sender_id", headers=CSV).text.splitlines()[1:]]


def write(engine: Engine) -> None:
    Database(engine).execute("UPDATE installation SET mark = mark + 1")


def test_reports_come_from_the_replica_and_everything_else_from_the_primary(servers: Servers) -> None:
    service = Service(servers.engine, replica_url=servers.standby.url, replica_max_lag=MAX_LAG)
    old = service.send().get_json()["send_id"]
    servers.execute(COUNT, account=service.account_id, sender="OLD")
    servers.execute(FINISH_EARLIER, send=old)
    replica = service.flask.extensions["bulksms"].replica
    wait_until(lambda: replica.is_close() and senders(service) == ["OLD"], 60, "the replica")
    servers.replay("pg_wal_replay_pause")
    servers.execute(COUNT, account=service.account_id, sender="NEW")
    new = service.send().get_json()["send_id"]

    before = answered("replica")
    assert senders(service) == ["OLD"], "it is younger than the replica"
    usage = service.get("/usage?by=sender_id").get_json()["data"]
    assert [row["sender_id"] for row in usage] == ["OLD"]
    past = (datetime.now(UTC) - timedelta(hours=1, minutes=1)).isoformat().replace("+00:00", "Z")
    assert service.get(f"/messages?until={past}").get_json()["data"] == []
    assert "254711000000" in service.get(f"/sends/{old}/messages", headers=CSV).text
    assert answered("replica") == before + 4

    assert "254711000000" in service.get(f"/sends/{new}/messages", headers=CSV).text
    listed = {row["send_id"] for row in service.get("/messages").get_json()["data"]}
    assert listed == {old, new}
    assert answered("replica") == before + 4

    servers.standby.kill()
    assert senders(service) == ["NEW", "OLD"]
    assert answered("replica") == before + 4


def test_a_replica_that_is_too_far_behind_is_not_used_until_it_has_caught_up(
    servers: Servers, replica: Replica
) -> None:
    reads = ReplicaReads(servers.engine, replica)
    assert not reads.read(from_replica), "before the first check"
    wait_until(lambda: is_close(replica), 60, "the replica")
    assert reads.read(from_replica)

    near = Replica(servers.engine, replica.engine, 1.0)
    wait_until(lambda: is_close(near), 60, "the replica")
    servers.replay("pg_wal_replay_pause")
    write(servers.engine)
    wait_until(lambda: not is_close(near), 60, "the replica to be too old")
    assert near.lag() > 1.0
    assert not ReplicaReads(servers.engine, near).read(from_replica)

    servers.replay("pg_wal_replay_resume")
    wait_until(lambda: is_close(near), 60, "the replica")


def test_an_idle_primary_makes_no_lag(servers: Servers, replica: Replica) -> None:
    write(servers.engine)
    wait_until(lambda: lag_of(servers.engine, replica.engine) == 0, 60, "the replica")


def test_the_primary_takes_over_a_report_that_the_replica_aborts(servers: Servers, replica: Replica) -> None:
    def end_session(connection: Connection) -> bool:
        if not from_replica(connection):
            return False
        connection.execute(text("SELECT pg_terminate_backend(pg_backend_pid())"))
        return True

    wait_until(lambda: is_close(replica), 60, "the replica")
    assert ReplicaReads(servers.engine, replica).read(end_session) is False
    assert not replica.is_close()


def test_only_a_standby_of_this_installation_is_a_replica(servers: Servers, replica: Replica) -> None:
    with pytest.raises(NoReplica, match="accepts writes"):
        lag_of(servers.engine, servers.engine)
    wait_until(lambda: is_close(replica), 60, "the replica")
    servers.replay("pg_wal_replay_pause")
    servers.execute("UPDATE installation SET id = gen_random_uuid()")
    with pytest.raises(NoReplica, match="another installation"):
        lag_of(servers.engine, replica.engine)


def test_the_doctor_reports_the_state_of_the_replica(servers: Servers) -> None:
    settings = Service(servers.engine, replica_url=servers.standby.url, replica_max_lag=2.0).settings

    def finding() -> tuple[str, str]:
        found = check_replica(settings, servers.engine)
        return found.outcome, found.detail

    wait_until(lambda: finding() == ("ok", "0 s behind"), 60, "the replica")
    servers.replay("pg_wal_replay_pause")
    write(servers.engine)
    wait_until(lambda: finding()[0] == "notice", 60, "the lag")
    assert "more than REPLICA_MAX_LAG" in finding()[1]
    servers.standby.kill()
    assert "failed" in finding()[1]
