"""How many connections the console takes."""

import resource

import pytest

from console.__main__ import MOST_CONNECTIONS, most_connections


@pytest.mark.parametrize(
    ("highest", "connections"),
    [(1024, 77), (256, 13), (50, 1), (60_000, MOST_CONNECTIONS), (resource.RLIM_INFINITY, MOST_CONNECTIONS)],
)
def test_descriptors_are_enough_for_all_connections(
    monkeypatch: pytest.MonkeyPatch, highest: int, connections: int
) -> None:
    raised: list[tuple[int, int]] = []
    monkeypatch.setattr(resource, "getrlimit", lambda what: (20, highest))
    monkeypatch.setattr(resource, "setrlimit", lambda what, limits: raised.append(limits))
    assert most_connections() == connections and raised == [(highest, highest)]
