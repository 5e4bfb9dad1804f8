"""A DATABASE_URL with several hosts leads to the one that takes writes, also when that changes."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from sqlalchemy import Engine, text
from sqlalchemy.engine import make_url

from bulksms.local.ports import LOOPBACK
from bulksms.local.postgres import Postgres
from shared.db.connection import UNAVAILABLE, make_engine
from shared.environment import driver_url
from tests.harness.house import wait_until
from tests.harness.servers import SMALL

pytestmark = pytest.mark.slow

READ_ONLY = {**SMALL, "default_transaction_read_only": "on"}
PORT = text("SELECT inet_server_port()")


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[tuple[Postgres, Postgres]]:
    """A server that takes writes, and one with the same password that does not."""
    with ExitStack() as open_:
        writable = open_.enter_context(Postgres(tmp_path / "one", SMALL))
        other = Postgres(tmp_path / "two", READ_ONLY)
        writable.start()
        (tmp_path / "two.password").write_text((tmp_path / "one.password").read_text())
        (tmp_path / "two.password").chmod(0o600)
        open_.enter_context(other).start()
        yield writable, other


def port_of(engine: Engine) -> int | None:
    try:
        with engine.begin() as connection:
            connection.execute(text("CREATE TEMP TABLE written (id int) ON COMMIT DROP"))
            return int(connection.execute(PORT).scalar_one())
    except UNAVAILABLE:
        return None


def test_it_works(servers: tuple[Postgres, Postgres], tmp_path: Path) -> None:
    writable, other = servers
    password = make_url(writable.url).password
    hosts = f"host={LOOPBACK},{LOOPBACK}&port={other.port},{writable.port}&target_session_attrs=read-write"
    engine = make_engine(driver_url(f"postgresql://bulksms:{password}@/bulksms?{hosts}"), pool=2)
    assert port_of(engine) == writable.port
    writable.kill()
    assert port_of(engine) is None
    port = other.port
    other.stop()
    promoted = Postgres(tmp_path / "two", SMALL)
    promoted._port = port
    with promoted:
        promoted.start()
        wait_until(lambda: port_of(engine) == port, 60, "the server that takes writes now")
    engine.dispose()
