"""A connection pool, and a table whose columns a test changes."""

from collections.abc import Iterator

import pytest
from sqlalchemy import Engine, text

from shared.db.connection import make_engine

POOL = 2


@pytest.fixture
def pool(engine: Engine) -> Iterator[Engine]:
    """The pool; the table is `kept`, with a column `id`."""
    made = make_engine(engine.url.render_as_string(hide_password=False), POOL)
    with made.begin() as connection:
        connection.execute(text("CREATE TABLE kept (id bigint)"))
    yield made
    with made.begin() as connection:
        connection.execute(text("DROP TABLE kept"))
    made.dispose()
