"""Keeps the unit of amounts: with another UNIT, balances and prices would be shown as other amounts."""

from sqlalchemy import Connection, Engine, bindparam, select, update

from shared.accounts.refused import Refused
from shared.db.connection import reading
from shared.db.tables.running import installation
from shared.unit import CREDITS, Unit

KEPT = select(installation.c.unit)
KEEP = update(installation).where(installation.c.unit.is_(None)).values(unit=bindparam("kept"))


def check_unit(connection: Connection, unit: Unit) -> None:
    """Keep the first unit that names a currency. Raises Refused if another one was kept."""
    kept = connection.execute(KEPT).scalar()
    if kept is None and unit != CREDITS:
        connection.execute(KEEP, {"kept": str(unit)})
    elif kept not in (None, str(unit)):
        detail = f"The amounts of this database are in UNIT={kept}, but UNIT is {unit} here."
        raise Refused(f"{detail} Set UNIT={kept} in every process, and in the console.")


def unit_problem(engine: Engine, unit: Unit) -> str | None:
    """Why UNIT cannot be used with this database, or None."""
    try:
        with reading(engine) as connection:
            kept = connection.execute(KEPT).scalar()
        if kept != str(unit):
            with engine.begin() as connection:
                check_unit(connection, unit)
    except Refused as refused:
        return refused.reason
    return None
