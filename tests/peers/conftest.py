"""The whole service, and a credential of its account."""

import secrets
from collections.abc import Iterator

import pytest
from sqlalchemy import text

from shared.accounts.smpp_credentials import NewCredential, create_credential
from tests.harness.house import SECRET_KEY, House


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """The whole service, which reports to this machine too."""
    made = House(tmp_path_factory.mktemp("house"), WEBHOOK_LOOPBACK="1")
    try:
        made.start(1)
        made.new_account(credits=100_000_000)
        made.start_webhooks()
        yield made
    finally:
        made.stop()


@pytest.fixture
def login(house: House) -> NewCredential:
    """A credential of its own."""
    with house.engine.begin() as connection:
        account = connection.execute(text("SELECT id FROM account ORDER BY id LIMIT 1")).scalar_one()
        options = {"networks": ["127.0.0.0/8"], "window_size": 100}
        return create_credential(connection, account, secrets.token_hex(6), SECRET_KEY, **options)
