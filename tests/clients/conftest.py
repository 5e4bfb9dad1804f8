"""Clients of a scripted service."""

from collections.abc import Iterator

import pytest
from bulksms_client.transport import KeyTokens, Transport
from bulksms_client.wire import Wire

from tests.clients.scripted import Scripted


@pytest.fixture
def service() -> Iterator[Scripted]:
    made = Scripted()
    yield made
    made.stop()


@pytest.fixture
def slept() -> list[float]:
    return []


@pytest.fixture
def transport(service: Scripted, slept: list[float]) -> Iterator[Transport]:
    wire = Wire(service.url, timeout=60, tries=3, sleep=slept.append)
    made = Transport(wire, KeyTokens(wire, "key", "secret"))
    yield made
    made.close()
