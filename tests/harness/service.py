"""The whole service inside a test.

    def test_my_code(service):
        answer = service.post("/sms/send", sender_id="ACME", phone="254711000000", message="Hi")
        service.deliver_receipts()
        assert service.get(f"/messages/{answer.json['message_id']}").json["status"] == "delivered"

Celery is eager: a task runs inside the request that publishes it. Redis is fakeredis, and the carrier is the simulator.
Postgres is real: an embedded server, with a fresh database for each test module. Requests take the way of production,
with sends to one phone on an event loop.
"""

from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

import fakeredis
from sqlalchemy import Engine, text
from werkzeug.test import TestResponse

from api.app import create_app
from shared.accounts.administration import create_account, create_key
from shared.accounts.top_ups import top_up
from shared.contacts.groups import add_contacts, create_group
from shared.periodic import do_all
from shared.prices.book import Prices
from shared.scopes import SCOPES
from shared.settings import Settings
from shared.task_queue import make_celery
from tests.harness.database import api_engine
from tests.harness.documented import documented
from tests.harness.event_loop_client import EventLoopClient
from tests.harness.prices import publish_prices
from tests.harness.sql import Database
from worker.jobs.import_contacts import import_chunk
from worker.process import WorkerProcess
from worker.receipts import match as receipts
from worker.tasks import register

SECRET_KEY = "test-secret-key-of-enough-characters"
PREFIX = "/api/v1"
DEFAULTS = {"simulator_receipt_delay": 0.0, "request_log_sample_rate": 0.0, "sandbox_requests_per_second": 10_000}
"""Settings of a test that has no others. A sandbox's usual rate is less than what the tests of a module ask it for."""


class Service(Database):
    """An account with 1,000 credits and the approved sender ID ACME, and the API and a worker that it uses."""

    def __init__(self, engine: Engine, credits: int = 1000, **settings: Any) -> None:
        super().__init__(engine)
        self.settings = Settings(
            database_url=engine.url.render_as_string(hide_password=False),
            redis_url="redis://unused",
            broker_url="memory://",
            secret_key=SECRET_KEY,
            eager=True,
            **(DEFAULTS | settings),
        )
        self.celery = celery = make_celery(self.settings)
        self.worker = WorkerProcess(self.settings, engine, fakeredis.FakeRedis())
        self.worker.simulator.response_delay = 0.01
        self.worker.simulator.on_receipts = lambda batch: receipts.record(engine, "simulator", batch)
        register(celery, self.worker.sweeper.work)
        self.serve(self.settings)
        self.account_id = self.new_account("acme", credits)
        self.token = self.new_token(self.account_id)

    def serve(self, settings: Settings) -> None:
        """Start the API, or start it again with other settings."""
        self.flask = create_app(settings, engine=api_engine(self.engine), celery=self.celery)
        self.api_engine: Engine = self.flask.extensions["bulksms"].engine
        self.client = EventLoopClient(self.flask)

    def reload_limits(self) -> None:
        """Make the API read the limits of accounts again, which it otherwise does in the background."""
        self.flask.extensions["bulksms"].tokens.reload()

    def call_from(self, carriers_file: Path) -> None:
        """From now on the API knows the carriers of that file, which may call it."""
        self.serve(replace(self.settings, carriers_file=str(carriers_file)))

    def new_account(self, name: str, credits: int = 1000) -> int:
        """Another account with the sender ID ACME. Returns its id."""
        with self.engine.begin() as connection:
            made = connection.execute(text("SELECT count(*) FROM account")).scalar_one()
            account = create_account(connection, f"{name}-{made}", authentication=True)
            if credits:
                top_up(connection, account, credits, "test", "test")
        self.approve(account, "ACME")
        return account

    def new_token(self, account: int, *, test: bool = False) -> str:
        """A bearer token of the account."""
        key = self.transact(create_key, account, SECRET_KEY, test=test, scopes=SCOPES)
        response = self.client.post(f"{PREFIX}/auth/token", json={"api_key": key.api_key, "api_secret": key.api_secret})
        return str(response.get_json()["access_token"])

    def in_sandbox(self) -> "Service":
        """The same service as the account's sandbox sees it, with a test key."""
        other = copy(self)
        other.token = self.new_token(self.account_id, test=True)
        other.account_id = self.scalar("SELECT id FROM account WHERE sandbox_of = :account", account=self.account_id)
        return other

    def import_files(self) -> None:
        """Import what was uploaded, as a worker does within a second."""
        do_all(lambda: import_chunk(self.engine), self.worker.dispatcher.stop)

    def new_group(self, phones: list[str], account: int | None = None) -> str:
        """A group of the account, or of another one, with these contacts. Returns its id."""
        with self.engine.begin() as connection:
            made = connection.execute(text("SELECT count(*) FROM contact_group")).scalar_one()
            group = create_group(connection, account or self.account_id, f"Group {made}")
            add_contacts(connection, group, phones)
        return str(group)

    def set_prices(self, *prices: tuple[str, str, int], name: str = "standard", account: int | None = None) -> int:
        """Publish a version of a price list of an account, or of all. Returns its id."""
        version = publish_prices(self.engine, prices, name, account)
        self.flask.extensions["bulksms"].prices = Prices(self.api_engine)
        return version

    def post(self, path: str, *, token: str | None = None, headers: Any = (), **body: Any) -> TestResponse:
        """POST a JSON body with the account's token."""
        response = self.client.post(PREFIX + path, json=body, headers=self._headers(token, dict(headers)))
        return documented(self.flask, response)

    def patch(self, path: str, *, token: str | None = None, **body: Any) -> TestResponse:
        """PATCH a JSON body with the account's token."""
        response = self.client.patch(PREFIX + path, json=body, headers=self._headers(token, {}))
        return documented(self.flask, response)

    def delete(self, path: str, *, token: str | None = None) -> TestResponse:
        """DELETE with the account's token."""
        response = self.client.delete(PREFIX + path, headers=self._headers(token, {}))
        return documented(self.flask, response)

    def get(self, path: str, *, token: str | None = None, headers: Any = ()) -> TestResponse:
        """GET with the account's token."""
        response = self.client.get(PREFIX + path, headers=self._headers(token, dict(headers)))
        return documented(self.flask, response)

    def send(self, phone: str = "254711000000", message: str = "Hi", **more: Any) -> TestResponse:
        """Send one message."""
        return self.post("/sms/send", **{"sender_id": "ACME", "phone": phone, "message": message, **more})

    def bulk(self, phones: list[Any], message: str = "Hi", **more: Any) -> TestResponse:
        """Send to a list."""
        return self.post("/sms/send-bulk", **{"sender_id": "ACME", "phones": phones, "message": message, **more})

    def deliver_receipts(self) -> int:
        """Let the simulated carrier report on what it was given. Returns how many receipts came."""
        delivered = 0
        while count := self.worker.simulator.deliver_due():
            delivered += count
        return delivered

    def sweep(self) -> None:
        """What workers do by themselves each second."""
        self.worker.sweeper.recover_and_wake()
        self.worker.sweeper.work()

    def counts(self, send_id: str) -> dict[str, int]:
        """A send's counts that are not 0."""
        return {name: n for name, n in self.get(f"/sends/{send_id}").json["counts"].items() if n}

    def submitted(self) -> dict[str, int]:
        """How often the carrier was given each phone."""
        rows = self.execute("SELECT phone, count(*) FROM simulated_submit GROUP BY phone")
        return {str(phone): count for phone, count in rows}

    def _headers(self, token: str | None, headers: dict[str, str]) -> dict[str, str]:
        return {"Authorization": f"Bearer {token or self.token}", **headers}
