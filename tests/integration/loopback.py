"""Services that post to this machine too: modules say `service = loopback_service` and `there = local_receiver`."""

from collections.abc import Iterator

import pytest
from sqlalchemy import Engine

from tests.harness.receiver import Receiver, receiver
from tests.harness.service import Service


@pytest.fixture
def loopback_service(engine: Engine) -> Service:
    """A new account, on an installation that posts to this machine too."""
    return Service(engine, webhook_loopback=True)


@pytest.fixture
def local_receiver() -> Iterator[Receiver]:
    """A receiver that takes everything."""
    with receiver() as made:
        yield made
