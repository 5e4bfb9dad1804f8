"""Requests that read for long, however many, leave database connections to the sends of others."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import event

from api.limits.bulkheads import FairThreadPool
from api.server.thread_pools import ThreadPools
from shared.contacts.groups import add_contacts, create_group
from tests.harness.house import wait_until
from tests.harness.service import PREFIX, Service

READERS = 8
"""Accounts, each with an export and lists: more than a process has threads for."""
LISTS = 2
SECONDS = 120.0
"""For what should come at once."""
SLOW = ("accounts", "exports")
"""The thread pools of requests that may read for long."""


class Reads:
    """Stops the statements that read contacts, each with its connection, until they are released."""

    def __init__(self) -> None:
        self.stops: tuple[str, ...] = ("exports",)
        """Pools whose threads are stopped."""
        self.stopped: set[str] = set()
        """The names of the threads that are."""
        self.release = threading.Event()

    def before(self, _: Any, __: Any, statement: str, *___: Any) -> None:
        name = threading.current_thread().name
        if "FROM contact" in statement and name.startswith(self.stops):
            self.stopped.add(name)
            assert self.release.wait(SECONDS)


@pytest.fixture(name="reads")
def _reads(service: Service) -> Iterator[Reads]:
    made = Reads()
    event.listen(service.api_engine, "before_cursor_execute", made.before)
    yield made
    made.release.set()
    event.remove(service.api_engine, "before_cursor_execute", made.before)


def reader(service: Service) -> tuple[str, str]:
    """An account's token, and the path of the contacts in its group."""
    account = service.new_account("reader", 0)
    group = service.transact(create_group, account, "Group")
    service.transact(add_contacts, group, [str(254711000000 + number) for number in range(3)])
    return service.new_token(account), f"{PREFIX}/groups/{group}/contacts"


def threads_of_accounts(connections: int) -> int:
    made = vars(ThreadPools(lambda *_: (), connections)).values()
    return sum(pool.threads for pool in made if isinstance(pool, FairThreadPool) and pool.name == "accounts")


def test_sends_find_a_connection_while_all_others_read(service: Service, reads: Reads) -> None:
    connections = service.settings.database_pool
    chunks = connections - threads_of_accounts(connections)
    readers = [reader(service) for _ in range(READERS)]

    def read(token: str, path: str, accept: str) -> int:
        headers = {"Authorization": f"Bearer {token}", "Accept": accept}
        return service.client.get(path, headers=headers).status_code

    with ThreadPoolExecutor(READERS * (1 + LISTS)) as clients:
        answers = [clients.submit(read, *each, "text/csv") for each in readers[:4]]
        wait_until(lambda: len(reads.stopped) == chunks, SECONDS, "the exports")
        reads.stops = SLOW
        answers += [clients.submit(read, *each, "application/json") for each in readers * LISTS]
        wait_until(lambda: len(reads.stopped) == connections, SECONDS, "the lists")
        try:
            sent = service.post("/sms/send", sender_id="ACME", phone="254711000000", message="Hi")
        finally:
            reads.release.set()
        assert sent.status_code == 200, sent.json
        assert {answer.result(SECONDS) for answer in answers} == {200}
