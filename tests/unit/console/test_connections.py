"""How many connections the console takes."""

import resource

import pytest

from console.load.connections import MOST, most_connections, raise_descriptor_limit


@pytest.mark.parametrize(
    ("descriptors", "connections"), [(1024, 77), (256, 13), (50, 1), (24_100, MOST), (60_000, MOST)]
)
def test_descriptors_are_enough_for_all_connections(descriptors: int, connections: int) -> None:
    assert most_connections(descriptors) == connections


def test_the_limit_is_raised_as_far_as_allowed() -> None:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(before[0], 512), before[1]))
    try:
        raised = raise_descriptor_limit()
        assert raised == resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        assert raised == min(before[1], 24_100)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
