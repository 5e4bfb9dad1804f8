"""Leases: what one process at a time does, and until when."""

from datetime import timedelta

from sqlalchemy import Connection, text

TAKE = text(
    """
    INSERT INTO lease (name, holder, held_until) VALUES (:name, :holder, clock_timestamp() + :length)
    ON CONFLICT (name) DO UPDATE SET holder = EXCLUDED.holder, held_until = EXCLUDED.held_until
     WHERE lease.holder = EXCLUDED.holder OR lease.held_until < clock_timestamp()
        OR lease.held_until > clock_timestamp() + :longest
    """
)
"""The database's clock alone decides, and one statement leaves no gap between the check and the change."""


def take_lease(
    connection: Connection, name: str, holder: str, length: timedelta, longest: timedelta | None = None
) -> bool:
    """Take or renew the lease for `length` from now. False if another holds it.

    One that ends later than `longest` from now, by default ten times `length`, was taken before the clock was set back,
    and is over.
    """
    values = {"name": name, "holder": holder, "length": length, "longest": longest or 10 * length}
    return connection.execute(TAKE, values).rowcount == 1
