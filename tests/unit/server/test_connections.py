"""Connections by address: how many, and which is closed when all are taken."""

import resource

import pytest

from api.server.connections import Connections


class Open:
    """A connection."""

    def __init__(self, idle: bool = True) -> None:
        self.idle = idle
        self.ended = False

    def end_if_idle(self) -> bool:
        """End it where it is idle."""
        self.ended = self.idle
        return self.idle


def test_one_address_cannot_take_all_connections() -> None:
    connections = Connections(limit=8)
    first = [Open() for _ in range(4)]
    assert [connections.add(each, "198.51.100.1") for each in [*first, Open()]] == [True] * 4 + [False]
    assert connections.add(Open(), "198.51.100.2")
    connections.remove(first[0], "198.51.100.1")
    connections.remove(first[0], "198.51.100.1")
    assert connections.add(Open(), "198.51.100.1") and not connections.add(Open(), "198.51.100.1")


@pytest.mark.parametrize(("files", "limits"), [(1_000_000, (16_384, 1_000)), (64, (64, 32))])
def test_without_a_limit_the_files_of_the_process_are_enough(
    monkeypatch: pytest.MonkeyPatch, files: int, limits: tuple[int, int]
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (files, files))
    connections = Connections()
    assert (connections.limit, connections.limit_per_address) == limits


def test_a_network_of_ipv6_is_one_address() -> None:
    connections = Connections(limit=2)
    assert connections.add(Open(), "2001:db8::1") and not connections.add(Open(), "2001:db8::2")


def test_the_address_with_the_most_connections_loses_its_oldest_idle_one() -> None:
    connections = Connections(limit=6)
    busy, idle, newer, other = Open(idle=False), Open(), Open(), Open()
    for each in (busy, idle, newer):
        connections.add(each, "198.51.100.1")
    connections.add(other, "198.51.100.2")
    for number in (3, 4):
        connections.add(Open(), f"198.51.100.{number}")
    assert connections.add(Open(), "198.51.100.5")
    assert (busy.ended, idle.ended, newer.ended, other.ended) == (False, True, False, False)


def test_without_an_idle_connection_a_new_one_is_refused() -> None:
    connections = Connections(limit=2)
    assert connections.add(Open(idle=False), "198.51.100.1") and connections.add(Open(idle=False), "198.51.100.2")
    assert not connections.add(Open(), "198.51.100.3")


def test_connections_of_a_proxy_are_not_counted() -> None:
    connections = Connections(lambda peer: peer == "10.0.0.1", limit=2)
    assert all(connections.add(Open(), "10.0.0.1") for _ in range(10))
