"""The hosts of each test, and patience with their database."""

from collections.abc import Iterator

import pytest

from tests.harness.long_sessions import patient_sessions
from tests.partitions.hosts import HOSTS, SECOND
from tests.partitions.network import Network, NoNetwork

__all__ = ["patient_sessions"]


@pytest.fixture
def network() -> Iterator[Network]:
    """The hosts, all connected."""
    try:
        made = Network([*HOSTS, SECOND])
    except NoNetwork as error:
        pytest.skip(str(error))
    with made:
        yield made
