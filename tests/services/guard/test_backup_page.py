"""Dumps, by the commands of docs/operating/backup.md: what they restore is whole, and is held."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
import yaml
from sqlalchemy import Engine, text

from bulksms.local.postgres import Postgres
from shared.db.connection import make_engine
from shared.guard import Guard, Witness
from tests.harness.backup_page import BLOCKS, NAMES, PATH, run
from tests.harness.database import api_engine
from tests.harness.house import wait_until
from tests.harness.servers import make_migrated_postgres
from tests.harness.service import SECRET_KEY, Service

pytestmark = pytest.mark.slow
DOCKER = """#!/bin/bash
# What the page asks of Docker Compose: commands in containers run here, and the others are noted.
case "$*" in
    "compose exec -T postgres "*) shift 4; exec "$@" ;;
    "compose exec api "*) shift 3; DATABASE_URL=$URL_OF_THE_API exec "$@" ;;
    *) echo "$*" >> "$NOTES" ;;
esac
"""


@pytest.fixture(name="server")
def _server(tmp_path: Path) -> Iterator[Postgres]:
    with make_migrated_postgres(tmp_path / "server", durable=False) as server:
        server.start()
        yield server


@pytest.fixture(name="engine")
def _engine(server: Postgres) -> Iterator[Engine]:
    made = make_engine(server.url, pool=5)
    yield made
    made.dispose()


@pytest.fixture(name="env")
def _env(engine: Engine) -> dict[str, str]:
    assert engine.url.password is not None
    return {
        "PATH": PATH,
        "DATABASE_URL": plain_url(engine),
        "ADMIN_URL": plain_url(engine, "postgres"),
        "REDIS_URL": "redis://127.0.0.1:1",
        "SECRET_KEY": SECRET_KEY,
        "PGHOST": "127.0.0.1",
        "PGPORT": str(engine.url.port),
        "PGPASSWORD": str(engine.url.password),
    }


def plain_url(engine: Engine, database: str | None = None) -> str:
    url = engine.url.set(drivername="postgresql", **({"database": database} if database else {}))
    return url.render_as_string(hide_password=False)


def end_sessions(engine: Engine) -> None:
    """Stop the service."""
    engine.dispose()
    api_engine(engine).dispose()
    count = "SELECT count(*) FROM pg_stat_activity WHERE datname = %s"
    with psycopg.connect(plain_url(engine, "postgres"), autocommit=True) as connection:
        wait_until(lambda: connection.execute(count, [engine.url.database]).fetchone() == (0,), 30, "the sessions' end")


def contents(engine: Engine) -> dict[str, object]:
    with engine.connect() as connection:
        tables = connection.execute(text("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")).scalars()
        return {
            table: connection.execute(
                text(f"SELECT md5(string_agg(t::text, '|' ORDER BY t::text)) FROM {table} t")
            ).scalar()
            for table in sorted(tables)
            if table not in ("installation", "lease")
        }


def restored_as_it_was(engine: Engine, env: dict[str, str], folder: Path, dump: str, restore: str) -> None:
    """Dump, send more, restore: the database is as it was, and held."""
    service = Service(engine)
    Guard(engine, None, None, Witness(), "worker").check()
    service.send("254711000001")
    before = contents(engine)
    run(dump, env, folder)
    service.send("254711000002")
    end_sessions(engine)
    run(restore, env, folder)
    assert contents(engine) == before
    assert Guard(engine, None, None, Witness(), "worker").check().held
    end_sessions(engine)


def test_each_block_of_the_page_is_run() -> None:
    """Each has a name, by which this file and tests/failover/test_point_in_time.py run it."""
    tests = "".join(path.read_text() for path in (Path(__file__), Path("tests/failover/test_point_in_time.py")))
    for block in BLOCKS:
        (name,) = [name for name, phrase in NAMES.items() if phrase in block]
        assert f'"{name}"' in tests, name
    assert len(BLOCKS) == len(NAMES)


def test_a_restored_backup_is_whole_and_held(engine: Engine, env: dict[str, str], tmp_path: Path) -> None:
    restored_as_it_was(engine, env, tmp_path, "dump", "restore dump")


def test_the_same_with_compose(engine: Engine, env: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    docker = tmp_path / "bin" / "docker"
    docker.write_text(DOCKER)
    docker.chmod(0o755)
    env |= {"PATH": f"{docker.parent}:{PATH}", "NOTES": str(tmp_path / "notes")}
    restored_as_it_was(engine, env, tmp_path, "dump in compose", "restore in compose")
    stop, up = (tmp_path / "notes").read_text().splitlines()
    assert up == "compose up --detach"
    services = yaml.safe_load(Path("docker-compose.yml").read_text())["services"]
    uses_database = {name for name, each in services.items() if "DATABASE_URL" in each.get("environment", {})}
    assert set(stop.split()[2:]) >= uses_database - {"migrate"}
    on_the_host = {name: value for name, value in env.items() if name != "DATABASE_URL"}
    with psycopg.connect(plain_url(engine, "bulksms_before"), autocommit=True) as connection:
        connection.execute("INSERT INTO audit_log (actor, action) VALUES ('operator', 'lost.created')")
    printed = run("lost database in compose", on_the_host | {"URL_OF_THE_API": env["DATABASE_URL"]}, tmp_path)
    assert "lost.created" in printed


def test_the_restore_that_the_page_advises_against_fails(engine: Engine, env: dict[str, str], tmp_path: Path) -> None:
    """Otherwise the page could be shorter."""
    run("dump", env, tmp_path)
    with psycopg.connect(plain_url(engine), autocommit=True) as connection:
        connection.execute("CREATE TABLE younger (send uuid REFERENCES send)")
    end_sessions(engine)
    cleaned = subprocess.run(
        ["pg_restore", "--clean", "--dbname", plain_url(engine), "bulksms.dump"],
        env={**os.environ, **env},
        cwd=tmp_path,
        capture_output=True,
        timeout=180,
        check=False,
    )
    assert cleaned.returncode != 0
