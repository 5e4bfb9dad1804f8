"""The embedded Postgres, really started, killed and started again."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from bulksms.local import os_user
from bulksms.local.errors import LocalError
from bulksms.local.postgres import Postgres
from tests.harness.servers import make_postgres

pytestmark = pytest.mark.slow
HOLDER = """
import sys, time
from pathlib import Path
from tests.harness.servers import make_postgres
server = make_postgres(Path(sys.argv[1]), durable=False)
server.start()
print(server.pid, flush=True)
time.sleep(60)
"""


@pytest.fixture(scope="module")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Postgres]:
    """One server for all: each test leaves it running."""
    with make_postgres(tmp_path_factory.mktemp("postgres"), durable=True) as server:
        server.start()
        yield server


def connect(url: str) -> psycopg.Connection[tuple[object, ...]]:
    return psycopg.connect(url.replace("+psycopg", ""), connect_timeout=30)


def test_it_works(postgres: Postgres) -> None:
    with connect(postgres.url) as connection:
        row = connection.execute("SELECT current_user, current_database(), getdatabaseencoding()").fetchone()
    assert row == ("bulksms", "bulksms", "UTF8")


@pytest.mark.parametrize("setting", ["fsync", "full_page_writes", "synchronous_commit"])
def test_commits_are_durable_by_default(postgres: Postgres, setting: str) -> None:
    with connect(postgres.url) as connection:
        assert connection.execute(f"SHOW {setting}").fetchone() == ("on",)


def test_a_password_is_needed(postgres: Postgres) -> None:
    password = postgres.data_dir.with_name("postgres.password")
    assert password.stat().st_mode & 0o777 == 0o600
    wrong = postgres.url.replace(password.read_text().strip(), "wrong")
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        connect(wrong)


def test_the_password_is_on_no_command_line_and_in_no_log(postgres: Postgres) -> None:
    password = postgres.data_dir.with_name("postgres.password").read_text().strip()
    assert password not in Path(f"/proc/{postgres.pid}/cmdline").read_text()
    assert password not in postgres.log_file.read_text()


def test_committed_rows_survive_a_kill_and_the_address_stays(postgres: Postgres) -> None:
    url = postgres.url
    with connect(url) as connection:
        connection.execute("CREATE TABLE kept (number int)")
        connection.execute("INSERT INTO kept VALUES (42)")
    postgres.kill()
    assert postgres.exit_code() == -signal.SIGKILL
    with pytest.raises(psycopg.OperationalError):
        connect(url)
    assert postgres.start() == url
    with connect(url) as connection:
        assert connection.execute("SELECT number FROM kept").fetchall() == [(42,)]


def test_a_stale_pid_file_with_the_id_of_a_running_process_does_not_prevent_a_start(postgres: Postgres) -> None:
    postgres.kill()
    pid_file = postgres.data_dir / "postmaster.pid"
    lines = pid_file.read_text().splitlines()
    # This process and its parents are excused by Postgres itself; a bystander is not.
    with subprocess.Popen(["sleep", "60"]) as bystander:
        try:
            pid_file.write_text("\n".join([str(bystander.pid), *lines[1:]]) + "\n")
            postgres.start()
        finally:
            bystander.kill()
    assert postgres.ready()


def test_a_second_start_on_the_same_data_is_refused(postgres: Postgres) -> None:
    with pytest.raises(LocalError, match=f"process {os.getpid()}, has Postgres running"):
        Postgres(postgres.data_dir).start()
    assert postgres.ready()


def test_a_taken_port_is_reported(postgres: Postgres, tmp_path: Path) -> None:
    with make_postgres(tmp_path / "other", durable=False) as other, pytest.raises(LocalError, match="could not bind"):
        other.start(port=postgres.port)


def test_a_lost_password_file_is_made_again(postgres: Postgres) -> None:
    postgres.stop()
    postgres.data_dir.with_name("postgres.password").unlink()
    with connect(postgres.start()) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)


def test_an_interrupted_first_start_is_done_again(tmp_path: Path) -> None:
    half = tmp_path / "postgres.new"
    half.mkdir()
    (half / "PG_VERSION").write_text("18\n")
    with make_postgres(tmp_path, durable=False) as server:
        server.start()
        assert server.ready()


def test_it_ends_with_a_killed_starter_and_can_be_started_at_once(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", HOLDER, str(tmp_path)], stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        old = int(holder.stdout.readline())
        holder.kill()
    with make_postgres(tmp_path, durable=False) as server:
        server.start()
        assert server.pid != old
        assert server.ready()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can change to another user")
def test_root_without_namespaces_gets_a_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os_user, "_namespace_command", lambda: ())
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    with (
        make_postgres(closed, durable=False) as server,
        pytest.raises(LocalError, match="Run this as an ordinary"),
    ):
        server.start()
