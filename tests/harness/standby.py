"""A service whose Postgres has a streaming standby that can be promoted."""

import shutil
import time
from pathlib import Path

import psycopg

from bulksms.local.ports import LOOPBACK
from bulksms.local.postgres import Postgres
from shared.db.connection import make_engine
from tests.faults.ground import Ground
from tests.faults.proxy import Proxy
from tests.harness.house import wait_until
from tests.harness.servers import SMALL

ADMITTED = f"host replication postgres {LOOPBACK}/32 trust\nhost all postgres {LOOPBACK}/32 trust\n"


def make_standby(primary: Postgres, port: int) -> Postgres:
    """A standby, not started yet, of a primary that is stopped and will be reached on this port."""
    hba = primary.data_dir / "pg_hba.conf"
    hba.write_text(ADMITTED + hba.read_text())
    data = primary.data_dir.with_name("standby")
    shutil.copytree(primary.data_dir, data)
    shutil.copy(f"{primary.data_dir}.password", f"{data}.password")
    (data / "standby.signal").touch()
    follow = {"primary_conninfo": f"host={LOOPBACK} port={port} user=postgres"}
    more = {"wal_retrieve_retry_interval": "200ms", "max_standby_streaming_delay": "-1"}
    return Postgres(data, {**SMALL, **follow, **more})


class Pair(Ground):
    """A ground with a standby. Each commit waits for it, or with `synchronous=False` none does."""

    def __init__(self, folder: Path, *, synchronous: bool, **settings: str) -> None:
        super().__init__(folder, **settings)
        self.primary = self.postgres
        self.primary.stop()
        self.replication = Proxy(self.primary.port)
        self.standby = make_standby(self.primary, self.replication.port)
        if synchronous:
            with (self.primary.data_dir / "postgresql.conf").open("a") as file:
                file.write("synchronous_standby_names = '*'\n")
        self.primary.launch()  # a synchronous primary is ready when its standby is
        self.standby.start()
        self.primary.wait_ready(60)
        wait_until(lambda: self.scalar("SELECT count(*) FROM pg_stat_replication"), 60, "the replication")

    def fail_over(self) -> None:
        """Kill the primary, promote the standby, and point everybody to it."""
        self.primary.kill()
        self.replication.cut()
        with psycopg.connect(f"host={LOOPBACK} port={self.standby.port} user=postgres dbname=postgres") as connection:
            connection.execute("SELECT pg_promote()")
        self.use(self.standby)

    def use(self, server: Postgres) -> None:
        """Point everybody to this server."""
        for process in ("api", "worker"):
            self.proxy(process, "postgres").target = server.port
            self.proxy(process, "postgres").cut()
        self.engine.dispose()
        self.engine = make_engine(server.url)
        self.postgres = server

    def given_by_primary(self) -> set[int]:
        """Phones that the carrier had been given until the primary was killed."""
        self.replication.close()
        with self.primary as primary, psycopg.connect(primary.start().replace("+psycopg", "", 1)) as connection:
            return {row[0] for row in connection.execute("SELECT phone FROM simulated_submit")}

    def just_after_the_mark_rose(self) -> None:
        """Wait for the moment from which the mark stands still for a second."""
        before = self.scalar("SELECT mark FROM installation")
        deadline = time.monotonic() + 60
        while self.scalar("SELECT mark FROM installation") == before:
            assert time.monotonic() < deadline
            time.sleep(0.01)

    def stop(self) -> None:
        """Stop both servers too."""
        try:
            super().stop()
        finally:
            self.replication.close()
            for server in (self.primary, self.standby):
                server.stop()
