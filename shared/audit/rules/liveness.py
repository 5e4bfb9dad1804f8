"""Rules about progress: nothing is left unattended for more than a minute."""

from typing import Final

from shared.audit.rules.parts import Rule
from shared.sends.sendable import SENDABLE

LEASES = """
    SELECT 'batch ' || id AS subject, account_id,
           format('its lease ended at %s and nobody recovered it', lease_until) AS detail
      FROM batch
     WHERE state = 'sending' AND (lease_until IS NULL OR lease_until NOT BETWEEN now() - interval '60 seconds'
                                                                             AND now() + interval '10 minutes')
"""
"""An end that is too far ahead is a breach as well: nobody would recover such a batch in time."""

DOUBTS_END = """
    SELECT 'message ' || message_id AS subject, CAST(NULL AS bigint) AS account_id,
           format('in doubt beyond its end at %s', expires_at) AS detail
      FROM doubt WHERE expires_at + make_interval(secs => :grace) < now() - interval '60 seconds'
"""
"""`:grace` is how many seconds a doubt may outlive its message's validity, to wait for a late receipt."""

QUEUE_MOVES = f"""
    SELECT 'batch ' || b.id AS subject, b.account_id,
           format('due since %s, may be sent, and no worker sends anything', b.due_at) AS detail
      FROM batch b JOIN send s ON s.id = b.send_id
     WHERE b.state = 'queued' AND b.due_at < now() - interval '60 seconds'
       AND {SENDABLE}
       AND NOT EXISTS (SELECT FROM batch o WHERE o.state = 'sending' AND o.lease_until > now())
"""
"""While a worker sends, a long queue is no breach."""

RULES: Final = (
    Rule("leases", "The batches of a dead worker are recovered within a minute.", LEASES),
    Rule("doubts_end", "No doubt outlives its expiry by more than a minute.", DOUBTS_END),
    Rule(
        "queue_moves",
        "No sendable message waits for a minute while no worker sends.",
        QUEUE_MOVES,
        full_only=True,
    ),
)
