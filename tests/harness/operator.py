"""An operator of the service inside a test: requests to the operator API with a key of some scopes."""

from typing import Any

from werkzeug.test import TestResponse

from shared.accounts.operator_keys import OPERATOR_SCOPES, create_operator_key
from tests.harness.documented import documented
from tests.harness.service import SECRET_KEY, Service

PREFIX = "/operator/v1"


class OperatorClient:
    """Calls the operator API with the token of a new key, by default of all scopes."""

    def __init__(self, service: Service, *scopes: str) -> None:
        self.service = service
        key = service.transact(create_operator_key, "a test", scopes or tuple(OPERATOR_SCOPES), SECRET_KEY)
        self.key_id, self.secret = key
        self.actor = f"operator key {self.key_id}"
        body = {"api_key": key.api_key, "api_secret": key.api_secret}
        self.token = str(service.client.post(f"{PREFIX}/auth/token", json=body).json["access_token"])

    def call(self, method: str, path: str, headers: Any = (), **more: Any) -> TestResponse:
        """Any request with the token."""
        sent = {"Authorization": f"Bearer {self.token}", **dict(headers)}
        response = self.service.client.open(PREFIX + path, method=method, headers=sent, **more)
        return documented(self.service.flask, response)

    def get(self, path: str) -> TestResponse:
        """GET."""
        return self.call("GET", path)

    def post(self, path: str, *, key: str | None = None, **body: Any) -> TestResponse:
        """POST a JSON body, with `key` as the Idempotency-Key."""
        return self.call("POST", path, {} if key is None else {"Idempotency-Key": key}, json=body)

    def patch(self, path: str, **body: Any) -> TestResponse:
        """PATCH a JSON body."""
        return self.call("PATCH", path, json=body)

    def delete(self, path: str) -> TestResponse:
        """DELETE."""
        return self.call("DELETE", path)
