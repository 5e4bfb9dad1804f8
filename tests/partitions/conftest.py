"""The hosts of each test."""

from collections.abc import Iterator

import pytest

from tests.partitions.hosts import HOSTS, SECOND
from tests.partitions.network import Network, NoNetwork


@pytest.fixture
def network() -> Iterator[Network]:
    """The hosts, all connected."""
    try:
        made = Network([*HOSTS, SECOND])
    except NoNetwork as error:
        pytest.skip(str(error))
    with made:
        yield made
