"""What requests execute in Postgres."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Engine, event


@contextmanager
def statements(engine: Engine) -> Iterator[list[tuple[str, Any]]]:
    """The statements that requests execute meanwhile, with their parameters; not what is refreshed beside them."""
    executed: list[tuple[str, Any]] = []

    def remember(_: Any, __: Any, statement: str, parameters: Any, *___: Any) -> None:
        if not threading.current_thread().name.startswith("background"):
            executed.append((statement, parameters))

    event.listen(engine, "before_cursor_execute", remember)
    try:
        yield executed
    finally:
        event.remove(engine, "before_cursor_execute", remember)
