"""Lets an account do one thing of a kind at a time, so that what it counts first is still true when it acts."""

from sqlalchemy import BigInteger, Connection, Text, bindparam, func, select

NAME = func.concat(bindparam("kind", type_=Text), " ", bindparam("account", type_=BigInteger))
LOCK = select(func.pg_advisory_xact_lock(func.hashtextextended(NAME, 0)))


def one_at_a_time(connection: Connection, kind: str, account_id: int) -> None:
    """Wait for the account's other transactions of this kind. The lock ends with the transaction."""
    connection.execute(LOCK, {"kind": kind, "account": account_id})
