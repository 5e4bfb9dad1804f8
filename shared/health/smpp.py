"""Findings of `bulksms doctor` about the SMPP server's customers, and how long their receipts wait."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Final

from sqlalchemy import Connection, Float, literal_column, select, text

from shared.accounts.smpp_credentials import IS_LIVE, KEY_PREFIX, OF
from shared.events import stream
from shared.health.finding import Finding
from shared.plurals import counted

WAITING_HOURS: Final = 4
MAX_EXAMINED: Final = 10_000
"""Most events of a credential that are examined, the oldest."""
MAX_NAMED: Final = 5
UNREAD: Final = stream.UNREAD.format(reader="c")

IS_BOUND: Final = """EXISTS (SELECT FROM smpp_bind b WHERE b.credential_id = c.id AND b.kind <> 'transmitter'
                        AND b.alive_until > clock_timestamp())"""
"""SQL: credential `c` has a bind that receives."""
OLDEST_DELIVERY = (
    select(literal_column("coalesce(max(CAST(extract(epoch FROM clock_timestamp() - w.at) AS float8)), 0)", Float))
    .select_from(
        text(
            f"""smpp_credential c CROSS JOIN LATERAL
                (SELECT e.at FROM event e WHERE {UNREAD} ORDER BY e.xid, e.id LIMIT 1) w"""
        )
    )
    .where(text(f"c.revoked_at IS NULL AND {IS_BOUND}"))
)
"""Seconds for which the oldest event waits for a credential that has a receiver. Such a credential soon passes events
that it does not get, so the oldest one is a delivery that is not answered."""
WAITING = text(
    f"""
    SELECT c.system_id
      FROM smpp_credential c CROSS JOIN LATERAL (
           SELECT min(e.at) AS oldest
             FROM (SELECT * FROM event e WHERE {UNREAD} ORDER BY e.xid, e.id LIMIT {MAX_EXAMINED}) e
             JOIN send s ON s.id = e.send_id
            WHERE s.api_key_id = '{KEY_PREFIX}' || c.system_id
              AND e.type LIKE 'message.%' AND e.type NOT IN ('message.sent', 'message.in_doubt')
              AND CAST(s.smpp ->> 'registered' AS int) & 3
                  IN (1, CASE e.type WHEN 'message.delivered' THEN 3 ELSE 2 END)
           ) w
     WHERE c.revoked_at IS NULL AND NOT {IS_BOUND} AND w.oldest < clock_timestamp() - :since
     ORDER BY c.system_id
    """
)
"""Credentials that nobody has bound to receive, although receipts wait."""
ANYWHERE = select(OF.system_id).where(IS_LIVE, OF.networks.is_(None)).order_by(OF.system_id)


def check_smpp(connection: Connection) -> Iterator[Finding]:
    """Whether credentials are bound to networks, and whether receipts wait for nobody."""
    if anywhere := connection.execute(ANYWHERE).scalars().all():
        detail = f"{counted(len(anywhere), 'credential')} may bind from anywhere: {', '.join(anywhere[:MAX_NAMED])}"
        remedy = "Strangers can guess at the password, and lock its owner out: make new ones with --allow."
        yield Finding("SMPP networks", "notice", detail, remedy)
    waiting = connection.execute(WAITING, {"since": timedelta(hours=WAITING_HOURS)}).scalars().all()
    if waiting:
        detail = f"for {WAITING_HOURS} hours nobody has bound to receive those of {counted(len(waiting), 'credential')}"
        detail += f": {', '.join(waiting[:MAX_NAMED])}"
        yield Finding("SMPP receipts", "notice", detail, "Tell the customer; receipts are kept for 8 days.")
    else:
        yield Finding("SMPP receipts", "ok", "none waits for a bind")
