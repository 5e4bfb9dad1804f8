"""Looking whether a server is ready must not be in its way."""

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from bulksms.local import services
from bulksms.local.ports import free_port, is_listening


@pytest.fixture
def port_of_others(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """A free port that nobody in this process may take, if only to look at it."""

    def bind(*_: object) -> None:
        raise AssertionError("the port is taken for a moment, in which its server cannot start")

    port = free_port()
    monkeypatch.setattr(socket.socket, "bind", bind)
    yield port


def test_a_port_is_not_taken_to_see_whether_its_server_is_ready(port_of_others: int) -> None:
    assert not is_listening(port_of_others)


def test_the_smsc_is_not_disturbed_by_whoever_waits_for_it(port_of_others: int, tmp_path: Path) -> None:
    assert not services.smsc(port_of_others, {}, tmp_path, Path.cwd())._is_ready()
