"""The commands of docs/operating/backup.md: what they restore is whole, and is held."""

import os
import re
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import Engine, text

from bulksms.local.postgres import Postgres, _binary
from shared.db.connection import make_engine
from shared.guard import Guard, Witness
from tests.harness.database import api_engine, fresh_database
from tests.harness.house import wait_until
from tests.harness.service import SECRET_KEY, Service

PAGE = Path("docs/operating/backup.md").read_text()
BLOCKS = [re.sub(r"(?m)^ {4}", "", block) for block in re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)]


def block_with(words: str) -> str:
    (found,) = [block for block in BLOCKS if words in block and "docker" not in block]
    return found


@pytest.fixture(name="env")
def _env(engine: Engine, postgres_server: Postgres, tmp_path: Path) -> dict[str, str]:
    binaries = [str(Path(_binary("pg_dump")).parent), str(Path(sys.executable).parent)]
    return {
        **os.environ,
        "PATH": ":".join([*binaries, os.environ["PATH"]]),
        "DATABASE_URL": plain_url(engine),
        "ADMIN_URL": plain_url(engine, "postgres"),
        "REDIS_URL": "redis://127.0.0.1:1",
        "SECRET_KEY": SECRET_KEY,
    }


@pytest.fixture(name="engine")
def _engine(postgres_server: Postgres) -> Engine:
    return fresh_database(postgres_server)


def plain_url(engine: Engine, database: str | None = None) -> str:
    url = engine.url.set(drivername="postgresql", **({"database": database} if database else {}))
    return url.render_as_string(hide_password=False)


def run(commands: str, env: dict[str, str], engine: Engine, folder: Path) -> None:
    """The commands as they stand there, for this test's database and role."""
    assert engine.url.database is not None
    commands = commands.replace("DATABASE bulksms", f"DATABASE {engine.url.database}")
    commands = commands.replace("TO bulksms_before", f"TO {engine.url.database}_before")
    commands = commands.replace("OWNER bulksms'", f"OWNER {engine.url.username}'")
    subprocess.run(["bash", "-euc", commands], env=env, cwd=folder, check=True, timeout=180)


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


def test_a_restored_backup_is_whole_and_held(engine: Engine, env: dict[str, str], tmp_path: Path) -> None:
    service = Service(engine)
    Guard(engine, None, None, Witness(), "worker").check()
    service.send("254711000001")
    before = contents(engine)
    run(block_with("pg_dump"), env, engine, tmp_path)
    service.send("254711000002")
    end_sessions(engine)
    run(block_with("pg_restore"), env, engine, tmp_path)
    restored = make_engine(plain_url(engine), pool=2)
    assert contents(restored) == before
    guard = Guard(restored, None, None, Witness(), "worker")
    assert guard.check().held
    restored.dispose()


def test_what_the_page_advises_against_fails(engine: Engine, env: dict[str, str], tmp_path: Path) -> None:
    """Otherwise the page could be shorter."""
    run(block_with("pg_dump"), env, engine, tmp_path)
    with psycopg.connect(plain_url(engine), autocommit=True) as connection:
        connection.execute("CREATE TABLE younger (send uuid REFERENCES send)")
    end_sessions(engine)
    cleaned = subprocess.run(
        ["pg_restore", "--clean", "--dbname", plain_url(engine), "bulksms.dump"],
        env=env,
        cwd=tmp_path,
        capture_output=True,
        timeout=180,
        check=False,
    )
    assert cleaned.returncode != 0
