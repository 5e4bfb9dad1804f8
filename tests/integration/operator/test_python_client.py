"""The operator API by the Python client: a customer is taken on, and the installation looked at."""

from collections.abc import Iterator

import pytest
from bulksms_client.operator import OperatorClient as Client

from shared.accounts.operator_keys import OPERATOR_SCOPES, create_operator_key
from tests.harness.console import serving
from tests.harness.service import SECRET_KEY, Service


@pytest.fixture
def client(service: Service) -> Iterator[Client]:
    key = service.transact(create_operator_key, "onboarding", tuple(OPERATOR_SCOPES), SECRET_KEY)
    with serving(service.flask.wsgi_app) as url, Client(url, key.api_key, key.api_secret) as made:
        yield made


def test_it_works(service: Service, client: Client) -> None:
    name = f"customer-of-{service.account_id}"
    account = client.accounts.create(name, key=name, country="KE")["account_id"]
    assert client.accounts.create(name, key=name, country="KE")["account_id"] == account
    assert [each["account_id"] for each in client.accounts.page(search=name)["data"]] == [account]
    for _ in range(2):
        assert client.top_ups.create(account, 1000, "invoice 1", f"payment-{name}")["balance"] == 1000
    top_up = client.top_ups.page(account)["data"][0]["top_up_id"]
    assert client.top_ups.reverse(account, top_up, 400, "a mistake")["balance"] == 600
    sender = client.sender_ids.create(account, f"NEW{account}", "orders")["sender"]
    assert client.sender_ids.one(sender)["status"] == "pending"
    assert client.sender_ids.approve(sender)["status"] == "approved"
    assert client.sender_ids.suspend(sender, "complaints")["status"] == "suspended"
    key = client.api_keys.create(account, {"name": "shop"})
    assert key["api_secret"] and client.api_keys.page(account)["data"][0]["api_key"] == key["api_key"]
    assert client.api_keys.revoke(account, key["api_key"])["revoked"]
    assert client.accounts.change(account, {"weight": 2})["weight"] == 2
    assert client.accounts.suspend(account, "unpaid")["status"] == "suspended"
    assert client.accounts.activate(account)["status"] == "active"
    assert client.accounts.limits(account)["spend_day"] is None
    assert [each["category"] for each in client.accounts.rules(account)["data"]] == ["transactional", "marketing"]
    assert client.accounts.close(account, "left")["status"] == "closed"
    logged = client.installation.changes(account_id=account, action="account.topped_up")["data"]
    assert [each["reason"] for each in logged] == ["invoice 1"]
