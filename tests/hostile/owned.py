"""What the attacker owns before it begins, so that its lists are long: rows that no request made."""

from uuid import UUID

from sqlalchemy import Connection, text

from bench.growth import Original, copy
from shared.contacts.groups import create_group
from tests.harness.house import House

PATTERN = 2_000
"""Messages of the send that is copied until there are as many as an attack wants."""
MESSAGES, CONTACTS, OPT_OUTS, ROWS, REVOKED = 500_000, 300_000, 500_000, 100_000, 500_000
"""At full strength; ROWS are changes, inbound messages and deliveries of a webhook each."""

PUT_CONTACTS = text(
    """
    INSERT INTO contact (group_id, position, phone)
    SELECT :group, n, 255000000000 + n FROM generate_series(1, CAST(:count AS int)) AS n
    """
)
COUNT_CONTACTS = text("UPDATE contact_group SET contact_count = :count, last_position = :count WHERE id = :group")
CHANGES = text(
    """
    INSERT INTO audit_log (account_id, actor, action, subject)
    SELECT :account, 'key smsk_live_0', 'key.created', n FROM generate_series(1, CAST(:count AS int)) AS n
    """
)
INBOUND = text(
    """
    INSERT INTO inbound (id, account_id, carrier, phone, sender_id, message, segments, missing)
    SELECT gen_random_uuid(), :account, 'simulator', 255000000000 + n, 'ACME', 'Yes', 1, 0
      FROM generate_series(1, CAST(:count AS int)) AS n
    """
)
WEBHOOK = text("UPDATE webhook SET state = 'disabled' WHERE id = :webhook")
DELIVERIES = text(
    """
    INSERT INTO delivery (webhook_id, event_id, type, state, attempts, url)
    SELECT :webhook, gen_random_uuid(), 'message.sent', 'delivered', 1, 'http://127.0.0.1:1/'
      FROM generate_series(1, CAST(:count AS int)) AS n
    """
)
REVOKED_TOKENS = text(
    """
    INSERT INTO revoked_token (id, api_key_id, expires_at, revoked_at)
    SELECT 'revoked-' || n, 'k', now() + interval '1 day', now() - interval '1 hour'
      FROM generate_series(1, CAST(:count AS int)) AS n
    """
)


def large_group(connection: Connection, account: int, strength: float) -> str:
    """A group of many contacts. Returns its id."""
    group = create_group(connection, account, "Large")
    size = {"group": group, "count": round(CONTACTS * strength)}
    connection.execute(PUT_CONTACTS, size)
    connection.execute(COUNT_CONTACTS, size)
    return str(group)


def webhook(house: House, strength: float) -> str:
    """A webhook that is disabled and has had many deliveries. Returns its id."""
    made = str(house.post("/webhooks", url="http://127.0.0.1:1/")["webhook_id"])
    with house.engine.begin() as connection:
        connection.execute(WEBHOOK, {"webhook": made})
        connection.execute(DELIVERIES, {"webhook": made, "count": round(ROWS * strength)})
    return made


def long_lists(house: House, account: int, strength: float) -> None:
    """Messages, opt-outs, changes and inbound messages of the account, and tokens that are revoked."""
    opt_outs = [str(254_800_000_000 + number) for number in range(round(OPT_OUTS * strength))]
    for first in range(0, len(opt_outs), 100_000):
        house.post("/suppressions", phones=opt_outs[first : first + 100_000])
    with house.engine.begin() as connection:
        for statement in (CHANGES, INBOUND):
            connection.execute(statement, {"account": account, "count": round(ROWS * strength)})
        connection.execute(REVOKED_TOKENS, {"count": round(REVOKED * strength)})
    _fill(house, account, round(MESSAGES * strength))
    with house.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("ANALYZE"))


def _fill(house: House, account: int, messages: int) -> None:
    phones = [str(254_200_000_000 + number) for number in range(min(messages, PATTERN))]
    send = house.post("/sms/send-bulk", sender_id="ACME", phones=phones, message="Hi")["send_id"]
    house.wait_for_end(120)
    for number in range(1, messages // PATTERN):
        copy(house.engine, Original(account, [UUID(send)], PATTERN), number)
