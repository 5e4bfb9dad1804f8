"""A process that lacks the key of stored texts does not start, and says what to do."""

import json
import os
import subprocess
import sys
from base64 import b64encode
from pathlib import Path

import pytest
from sqlalchemy import text

from bulksms.local.postgres import Postgres
from shared.db.encryption_keys import check_text_keys
from shared.encryption import TextKey, Texts
from shared.inbound import Inbound, store
from tests.harness.database import fresh_database

pytestmark = pytest.mark.slow

CELERY = [str(Path(sys.executable).parent / "celery"), "-A", "worker.app", "worker", "--pool", "threads", "-Q", "sends"]
ENV = {
    "REDIS_URL": "redis://127.0.0.1:1",
    "SECRET_KEY": "x" * 32,
    "CARRIER": "simulator",
    "PYTHONPATH": str(Path.cwd()),
}


@pytest.mark.parametrize("command", [CELERY, [sys.executable, "-m", "worker.webhooks"]], ids=["worker", "webhooks"])
def test_it_does_not_start_with_another_key(postgres_server: Postgres, command: list[str]) -> None:
    engine = fresh_database(postgres_server)
    check_text_keys(engine.execution_options(texts=Texts([TextKey("k1", b"1" * 32)])))
    url = engine.url.render_as_string(hide_password=False).replace("+psycopg", "")
    engine.dispose()
    keys = f"k2:{b64encode(b'2' * 32).decode()}"
    env = {**os.environ, **ENV, "DATABASE_URL": url, "TEXT_KEYS": keys}
    ended = subprocess.run(command, env=env, capture_output=True, text=True, timeout=180, check=False)
    assert ended.returncode == 1
    assert "Stored texts are encrypted with the key 'k1', which TEXT_KEYS does not have." in ended.stderr


def test_an_operator_reads_messages_that_nobody_has(postgres_server: Postgres) -> None:
    engine = fresh_database(postgres_server)
    kept = engine.execution_options(texts=Texts([TextKey("k1", b"1" * 32)]))
    with kept.begin() as connection:
        store(connection, "main", [Inbound("254711000000", "88888", "Hello")])
        assert "Hello" not in str(connection.execute(text("SELECT message FROM inbound")).all())
    url = engine.url.render_as_string(hide_password=False).replace("+psycopg", "")
    engine.dispose()
    env = {**os.environ, **ENV, "DATABASE_URL": url, "TEXT_KEYS": f"k1:{b64encode(b'1' * 32).decode()}"}
    command = [str(Path(sys.executable).parent / "bulksms"), "inbound", "list", "--json"]
    shown = subprocess.run(command, env=env, capture_output=True, text=True, timeout=180, check=True)
    assert [row["message"] for row in json.loads(shown.stdout)] == ["Hello"]
