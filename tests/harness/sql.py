"""One statement to the database of a test, in a transaction of its own."""

from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, TypeVar

from sqlalchemy import Connection, Engine, Executable, Row, text

APPROVE = """
    INSERT INTO sender_id (account_id, sender_id, state) VALUES (:account, :sender, 'approved')
    ON CONFLICT (account_id, sender_id) DO UPDATE SET state = 'approved'
"""
P = ParamSpec("P")
T = TypeVar("T")


class Database:
    """What an engine is connected to."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    def execute(self, statement: str | Executable, /, **values: Any) -> list[Row[Any]]:
        """Execute a statement. Returns its rows."""
        with self.engine.begin() as connection:
            result = connection.execute(text(statement) if isinstance(statement, str) else statement, values)
            return list(result) if result.returns_rows else []

    def row(self, statement: str | Executable, /, **values: Any) -> Row[Any]:
        """The only row of a statement."""
        (row,) = self.execute(statement, **values)
        return row

    def scalars(self, statement: str | Executable, /, **values: Any) -> list[Any]:
        """The first column of a statement's rows."""
        return [row[0] for row in self.execute(statement, **values)]

    def scalar(self, statement: str | Executable, /, **values: Any) -> Any:
        """The first column of a statement's first row, or None."""
        return next(iter(self.scalars(statement, **values)), None)

    def transact(self, function: Callable[Concatenate[Connection, P], T], /, *given: P.args, **named: P.kwargs) -> T:
        """Call a function with a connection."""
        with self.engine.begin() as connection:
            return function(connection, *given, **named)

    def approve(self, account: int, sender_id: str) -> str:
        """Give an account an approved sender ID, which is returned."""
        self.execute(APPROVE, account=account, sender=sender_id)
        return sender_id
