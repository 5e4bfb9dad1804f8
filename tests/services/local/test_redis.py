"""The embedded Redis, really started, killed and started again."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from redis import Redis
from redis.exceptions import AuthenticationError, ConnectionError

from bulksms.local.errors import LocalError
from bulksms.local.redis import RedisServer
from tests.harness.servers import make_redis


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RedisServer]:
    with make_redis(tmp_path) as redis:
        redis.start()
        yield redis


def test_a_password_is_needed(server: RedisServer) -> None:
    with Redis(port=server.port) as client, pytest.raises(AuthenticationError):
        client.ping()


def test_the_password_is_in_private_files_only(server: RedisServer) -> None:
    password = (server.folder / "password").read_text().strip()
    assert (server.folder / "password").stat().st_mode & 0o777 == 0o600
    assert (server.folder / "redis.conf").stat().st_mode & 0o777 == 0o600
    assert password not in Path(f"/proc/{server.pid}/cmdline").read_text()
    assert password not in server.log_file.read_text()


def test_after_a_kill_it_comes_back_empty_at_the_same_address(server: RedisServer) -> None:
    url = server.url
    with Redis.from_url(url) as client:
        client.set("key", "value")
        server.kill()
        with pytest.raises(ConnectionError):
            client.ping()
    assert server.start() == url
    with Redis.from_url(url) as client:
        assert client.get("key") is None


def test_a_taken_port_is_reported(server: RedisServer, tmp_path: Path) -> None:
    other = make_redis(tmp_path / "other")
    with pytest.raises(LocalError, match="Could not create server TCP"):
        other.start(port=server.port)


def test_a_running_server_is_not_started_twice(server: RedisServer) -> None:
    with pytest.raises(LocalError, match="already running"):
        server.start()
    assert server.ready()
