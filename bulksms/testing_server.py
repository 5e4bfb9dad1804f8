"""The whole service in one process, for the tests of other projects. `bulksms.testing` starts it.

Celery is eager, Redis is fakeredis, the carrier is the simulator, and Postgres is an embedded server with a temporary
folder. Commands are lines of JSON on standard input, each answered by a line of JSON on standard output. The process
ends at the end of standard input.
"""

import asyncio
import json
import os
import signal
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fakeredis
from sqlalchemy import Engine, bindparam, func, insert, select

from api.app import create_app
from api.endpoint import PREFIX
from api.server.application import Application
from api.server.process import BACKLOG, serve
from api.server.reuse_port import bound_socket
from bulksms.local.ports import LOOPBACK
from bulksms.local.postgres import Postgres
from shared.accounts.administration import create_account, create_key
from shared.accounts.top_ups import top_up
from shared.carriers.receipts import Receipt
from shared.db.connection import make_engine
from shared.db.migrate import migrate
from shared.db.tables.accounts import account, sender_id
from shared.db.tables.running import simulated_submit
from shared.db.tables.sends import batch
from shared.lifecycle import MessageStatus
from shared.periodic import do_all, repeat
from shared.scopes import SCOPES
from shared.settings import Settings
from shared.task_queue import make_celery
from worker.jobs.import_contacts import import_chunk
from worker.process import WorkerProcess
from worker.receipts.match import record
from worker.tasks import register
from worker.webhooks.client import Client
from worker.webhooks.deliver import Deliverer

SECRET_KEY = "a-secret-key-that-is-only-for-tests"
SENDER_ID, CREDITS = "ACME", 1_000
POSTGRES = {
    "shared_buffers": "64MB",
    "dynamic_shared_memory_type": "mmap",
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "off",
}
# request_sender and decide_sender allow a sender ID for one account only; here all accounts share one.
ADD_SENDER = insert(sender_id).values(state="approved")
COUNT_ACCOUNTS = select(func.count()).select_from(account)
SENT = (
    select(simulated_submit.c.message_id)
    .join(batch, batch.c.id == func.batch_of(simulated_submit.c.message_id))
    .where(batch.c.account_id == bindparam("account"))
    .order_by(simulated_submit.c.at, simulated_submit.c.message_id)
)


class TestService:
    """The API and a worker on one database, and the commands for tests."""

    __test__ = False

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._failing: dict[str, str] = {}
        self._settings = Settings(
            database_url=engine.url.render_as_string(hide_password=False),
            redis_url="redis://unused",
            broker_url="memory://",
            secret_key=SECRET_KEY,
            eager=True,
            simulator_receipt_delay=0.0,
            webhook_loopback=True,
        )
        celery = make_celery(self._settings)
        self._worker = WorkerProcess(self._settings, engine, fakeredis.FakeRedis())
        self._worker.simulator.on_receipts = self._record
        register(celery, self._worker.sweeper.work)
        self._flask = create_app(self._settings, engine=engine, celery=celery)
        self.api = Application(self._flask.wsgi_app)
        self.commands: dict[str, Callable[..., Any]] = {
            "create_account": self.create_account,
            "sent": self.sent,
            "deliver_receipts": self.deliver_receipts,
            "fail": self.fail,
            "reset": self.reset,
        }

    def start(self) -> None:
        """Start the background work: scheduled sends, retries, imports and webhooks."""
        self._worker.sweeper.start()
        stop = self._worker.dispatcher.stop
        repeat(lambda: do_all(lambda: import_chunk(self._engine), stop), 0.1, "imports", stop)
        threading.Thread(target=lambda: asyncio.run(self._post_webhooks()), name="webhooks", daemon=True).start()

    def stop(self) -> None:
        """Stop the background work."""
        self._worker.sweeper.stop()

    def create_account(self) -> dict[str, Any]:
        """Create an account with credits, a sender ID and an API key with all scopes."""
        with self._engine.begin() as connection:
            number = connection.execute(COUNT_ACCOUNTS).scalar_one()
            account_id = create_account(connection, f"test-{number}", authentication=True)
            connection.execute(ADD_SENDER, {"account_id": account_id, "sender_id": SENDER_ID})
            top_up(connection, account_id, CREDITS, "test", "test")
            key = create_key(connection, account_id, SECRET_KEY, scopes=SCOPES)
        pair = {"api_key": key.api_key, "api_secret": key.api_secret}
        token = self._flask.test_client().post(f"{PREFIX}/auth/token", json=pair).get_json()["access_token"]
        return {"account_id": account_id, "sender_id": SENDER_ID, "token": token, **pair}

    def sent(self, account_id: int, token: str) -> list[dict[str, Any]]:
        """The account's messages that were submitted to the carrier, as the API returns them."""
        with self._engine.connect() as connection:
            messages = connection.execute(SENT, {"account": account_id}).scalars().all()
        client, headers = self._flask.test_client(), {"Authorization": f"Bearer {token}"}
        return [client.get(f"{PREFIX}/messages/{message}", headers=headers).get_json() for message in messages]

    def deliver_receipts(self) -> int:
        """Deliver the due receipts of all accounts. Returns their number."""
        delivered = 0
        while count := self._worker.simulator.deliver_due():
            delivered += count
        return delivered

    def fail(self, phone: str, error: str) -> None:
        """Make receipts for a phone report `undelivered` with this error."""
        self._failing[phone] = error

    def reset(self) -> None:
        """Clear the state between tests: pending receipts and failing phones."""
        self.deliver_receipts()
        self._failing.clear()

    def _record(self, receipts: list[Receipt]) -> None:
        record(self._engine, self._worker.simulator.name, [self._as_failed(receipt) for receipt in receipts])

    def _as_failed(self, receipt: Receipt) -> Receipt:
        error = self._failing.get(receipt.phone or "")
        return receipt if error is None else receipt._replace(status=MessageStatus.UNDELIVERED, error=error)

    async def _post_webhooks(self) -> None:
        client = Client(self._settings.webhook_loopback)
        try:
            await Deliverer(self._engine, client, SECRET_KEY, ()).run()
        finally:
            await client.close()


def answer_commands(service: TestService) -> None:
    """Run the command of each line of standard input; terminate this process at its end."""
    for line in sys.stdin:
        arguments = json.loads(line)
        command = service.commands[arguments.pop("command")]
        try:
            reply = {"result": command(**arguments)}
        except Exception as error:
            reply = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(reply), flush=True)
    os.kill(os.getpid(), signal.SIGTERM)


def main() -> None:
    """Serve on a free port of the loopback address until standard input ends."""
    with tempfile.TemporaryDirectory(prefix="bulksms-testing-") as folder:
        Path(folder).chmod(0o755)  # Postgres may run as another user
        with Postgres(Path(folder) / "postgres", settings=POSTGRES) as postgres:
            engine = make_engine(postgres.start(), pool=16)
            migrate(engine)
            service = TestService(engine)
            service.start()
            listening = bound_socket(LOOPBACK, 0)
            listening.listen(BACKLOG)  # connections wait until the event loop serves them
            base_url = f"http://{LOOPBACK}:{listening.getsockname()[1]}"
            print(json.dumps({"result": {"base_url": base_url}}), flush=True)
            threading.Thread(target=answer_commands, args=(service,), name="commands", daemon=True).start()
            serve(lambda: service.api, listening)
            service.stop()
            engine.dispose()


if __name__ == "__main__":
    main()
