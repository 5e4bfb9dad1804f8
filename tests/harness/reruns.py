"""Tests of real processes that fail are run once more; the run's last lines say how often.

Such a test may fail because the machine stood still at the wrong moment. One that needs its second try now and then is
to be mended; more than MOST in a run are no chance, and fail it.
"""

from pathlib import Path
from typing import Final

import pytest

OF_REAL_PROCESSES: Final = (
    "browser", "carriers", "clients", "contract", "crashpoints", "failover", "faults", "hostile", "observe",
    "partitions", "peers", "pooler", "rabbitmq", "services",
)  # fmt: skip
"""Folders of tests/ that start processes."""
MOST: Final = 3
"""Tests of a run that may fail once."""
AGAIN = pytest.mark.flaky(reruns=1)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let the tests of real processes be run once more."""
    tests = Path(__file__).parents[1]
    for item in items:
        if item.path.relative_to(tests).parts[0] in OF_REAL_PROCESSES:
            item.add_marker(AGAIN)


def tests_run_again(reporter: pytest.TerminalReporter) -> list[str]:
    """The names of the tests that failed and were run once more."""
    return [report.nodeid for report in reporter.stats.get("rerun", [])]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Name the tests that were run once more."""
    names = tests_run_again(terminalreporter)
    if not names:
        return
    limit = f", but at most {MOST} may be: the run fails" if len(names) > MOST else ""
    terminalreporter.section(f"{len(names)} failed and were run once more{limit}")
    for name in names:
        terminalreporter.write_line(name)


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail a run in which too many tests needed a second try."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None and len(tests_run_again(reporter)) > MOST:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
