"""Session fixtures with real servers, one of each per test process.

Loaded by `pytest_plugins` in the top conftest.py. A test that kills a server makes its own with tests.harness.servers
instead.
"""

import gc
import os
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest

from bulksms.local.files import tail
from bulksms.local.postgres import Postgres
from bulksms.local.redis import RedisServer
from shared.gc_tuning import collect_less_often
from tests.harness.servers import (
    FOR_MANY_DATABASES,
    RUNNING_POSTGRES,
    RunningPostgres,
    fast_folder,
    make_migrated_postgres,
    make_redis,
)

POSTGRES_LOG = pytest.StashKey[Path]()


def pytest_collection() -> None:
    """Collect no garbage while tests are collected: almost everything that is made stays in memory."""
    gc.disable()


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """Collect garbage less often, as the service does: thousands of tests and their modules stay in memory."""
    collect_less_often()
    gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show the end of the server's log if a test lost its connection to it."""
    report = yield
    if report.failed and "server closed the connection" in report.longreprtext and POSTGRES_LOG in item.config.stash:
        report.sections.append(("Log of Postgres", tail(item.config.stash[POSTGRES_LOG], lines=40)))
    return report


@pytest.fixture(scope="session")
def postgres_server(pytestconfig: pytest.Config) -> Iterator[Postgres]:
    """A running Postgres with an empty, migrated database `bulksms`, of which `fresh_database` makes copies."""
    if (url := os.environ.get(RUNNING_POSTGRES)) is not None:
        yield RunningPostgres(url)
        return
    with (
        fast_folder() as folder,
        make_migrated_postgres(folder, durable=False, more=FOR_MANY_DATABASES) as server,
    ):
        server.start()
        pytestconfig.stash[POSTGRES_LOG] = server.log_file
        yield server


@pytest.fixture(scope="session")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    """A running Redis; whoever needs it empty flushes it."""
    with make_redis(tmp_path_factory.mktemp("redis")) as server:
        server.start()
        yield server
