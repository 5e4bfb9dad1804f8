"""What a test has logged, without what threads of other tests log: those may still look for their server."""

import logging
import threading

import pytest


def logged(caplog: pytest.LogCaptureFixture, thread: str = "") -> list[logging.LogRecord]:
    """What this thread has logged, or the one of this name."""
    if thread:
        return [record for record in caplog.records if record.threadName == thread]
    return [record for record in caplog.records if record.thread == threading.get_ident()]
