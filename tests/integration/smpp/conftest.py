"""The `smpp` fixture: the SMPP server of the service; and an operator."""

from collections.abc import Iterator

import pytest

from tests.harness.operator import OperatorClient
from tests.harness.service import Service
from tests.harness.smpp import SmppHouse, smpp_house


@pytest.fixture
def smpp(service: Service) -> Iterator[SmppHouse]:
    """The server, with clients for it."""
    with smpp_house(service) as house:
        yield house


@pytest.fixture
def operator(service: Service) -> OperatorClient:
    """An operator key of all scopes."""
    return OperatorClient(service)
