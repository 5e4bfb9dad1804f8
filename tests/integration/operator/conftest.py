"""The `operator` fixture: an operator with every scope."""

import pytest

from tests.harness.operator import OperatorClient
from tests.harness.service import Service


@pytest.fixture
def operator(service: Service) -> OperatorClient:
    """An operator key of all scopes."""
    return OperatorClient(service)
