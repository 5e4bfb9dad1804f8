"""Tables of counts by hour: the rows of an hour are replaced, or moved to where no recount replaces them."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Table, bindparam, column, delete, not_, select, true, update
from sqlalchemy.dialects.postgresql import insert

from shared.db.expressions import parameter_rows

Counts = Mapping[Any, tuple[int, ...]]
"""Numbers by key, both in the order of the table's columns. The first number counts messages."""


class HourlyCounts:
    """A table with `began_at`, a key, some `numbers`, and `kept`: counts of messages that retention has deleted."""

    def __init__(self, table: Table, key: tuple[str, ...], *numbers: str) -> None:
        names = (*key, *numbers)
        self._parameters = [f"new_{name}" for name in names]  # one named like a column would be assigned to it
        hour = bindparam("hour", type_=table.c.began_at.type)
        new = parameter_rows("new", *(column(f"new_{name}", table.c[name].type) for name in names))
        replaceable = (table.c.began_at == hour, not_(table.c.kept))
        same = (table.c[name] == new.c[f"new_{name}"] for name in key)
        less = {name: table.c[name] - new.c[f"new_{name}"] for name in numbers}
        moved = insert(table).from_select(["began_at", "kept", *names], select(hour, true(), *new.c))
        more = {name: table.c[name] + moved.excluded[name] for name in numbers}
        self._forget = delete(table).where(*replaceable)
        self._insert = insert(table).from_select(["began_at", *names], select(hour, *new.c))
        self._move = moved.on_conflict_do_update(index_elements=list(table.primary_key), set_=more).add_cte(
            update(table).where(*replaceable, *same).values(less).cte("less")
        )
        self._forget_empty = delete(table).where(*replaceable, table.c[numbers[0]] == 0)

    def replace(self, connection: Connection, hour: datetime, counts: Counts) -> None:
        """Replace the counts of an hour, except those that were moved."""
        connection.execute(self._forget, {"hour": hour})
        connection.execute(self._insert, self._values(hour, counts))

    def move(self, connection: Connection, hour: datetime, counts: Counts) -> None:
        """Move counts to rows that are only added to. One statement, so that each message is counted once at every
        time."""
        connection.execute(self._move, self._values(hour, counts))
        connection.execute(self._forget_empty, {"hour": hour})

    def _values(self, hour: datetime, counts: Counts) -> dict[str, Any]:
        rows = [(*key, *numbers) for key, numbers in counts.items()]
        return {"hour": hour} | {name: [row[place] for row in rows] for place, name in enumerate(self._parameters)}
