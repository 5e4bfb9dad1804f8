"""The `kannel` fixture: a user of Kannel who has changed a host name."""

from typing import Any

import pytest
from werkzeug.test import TestResponse

from shared.accounts.smpp_credentials import NewCredential, create_credential, find_own, revoke_credential
from tests.harness.kannel import Asked
from tests.harness.service import SECRET_KEY, Service


class KannelUser:
    """Requests with the login of an SMPP credential of the service's account, or of another one."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.login = self.credential()

    def credential(self, account: int | None = None, **more: Any) -> NewCredential:
        """A new credential."""
        owner = account or self.service.account_id
        options: dict[str, Any] = {"networks": ["127.0.0.0/8"], "system_id": f"box{owner}", **more}
        return self.service.transact(create_credential, owner, options.pop("system_id"), SECRET_KEY, **options)

    def revoke(self, login: NewCredential) -> None:
        """Revoke a credential."""
        self.service.transact(lambda connection: revoke_credential(connection, find_own(connection, login.system_id)))

    def ask(self, asked: Asked) -> TestResponse:
        """Send a request, with this login for that of smsbox."""
        own = {"=foo": f"={self.login.system_id}", "=bar": f"={self.login.password}"}
        query, body = asked.query, asked.body
        for known, mine in own.items():
            query, body = query.replace(known, mine), body and body.replace(known, mine)
        headers = [(name, own[f"={value}"][1:] if f"={value}" in own else value) for name, value in asked.headers]
        method = "GET" if body is None else "POST"
        return self.service.client.open(
            "/cgi-bin/sendsms", method=method, query_string=query, headers=headers, data=body
        )

    def get(self, **more: Any) -> TestResponse:
        """Send a text, with more or other parameters."""
        login = {"username": self.login.system_id, "password": self.login.password}
        usual = {"from": "ACME", "to": "254711000000", "text": "Hi"}
        query = {**login, **usual, **{name.replace("_", "-").strip("-"): value for name, value in more.items()}}
        return self.service.client.get("/cgi-bin/sendsms", query_string=query)


@pytest.fixture
def kannel(service: Service) -> KannelUser:
    """A user of the service's account."""
    return KannelUser(service)
