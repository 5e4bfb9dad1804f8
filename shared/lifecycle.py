"""States of sends, batches, messages, accounts and sender IDs; which of a message may follow which; types of events.

A message only moves forward, and `delivered` is final. The order of `MessageStatus` is the order of the database's
enum, so `status < 'delivered'` means the same in both.
"""

from collections.abc import Iterable
from enum import StrEnum
from typing import Final


class MessageStatus(StrEnum):
    """Where one message is. Only statuses from `in_doubt` on are stored; those before follow from its batch."""

    SCHEDULED = "scheduled"
    QUEUED = "queued"
    SENDING = "sending"
    IN_DOUBT = "in_doubt"
    SENT = "sent"
    REJECTED = "rejected"
    FAILED = "failed"
    CANCELED = "canceled"
    EXPIRED = "expired"
    UNDELIVERED = "undelivered"
    DELIVERED = "delivered"


class SendState(StrEnum):
    """Where one accepted request is."""

    SCHEDULED = "scheduled"
    EXPANDING = "expanding"
    QUEUED = "queued"
    SENDING = "sending"
    PAUSED = "paused"
    HELD = "held"
    COMPLETED = "completed"
    CANCELED = "canceled"


class BatchState(StrEnum):
    """Where one slice of a send's recipients is.

    `waiting` becomes `queued` at its `due_at`, or when a carrier that may take it is available again.
    """

    WAITING = "waiting"
    QUEUED = "queued"
    SENDING = "sending"
    PAUSED = "paused"
    HELD = "held"
    DONE = "done"
    CANCELED = "canceled"
    EXPIRED = "expired"


class EventType(StrEnum):
    """The types of events."""

    MESSAGE_SENT = "message.sent"
    MESSAGE_DELIVERED = "message.delivered"
    MESSAGE_UNDELIVERED = "message.undelivered"
    MESSAGE_FAILED = "message.failed"
    MESSAGE_REJECTED = "message.rejected"
    MESSAGE_EXPIRED = "message.expired"
    MESSAGE_CANCELED = "message.canceled"
    MESSAGE_IN_DOUBT = "message.in_doubt"
    MESSAGE_RECEIVED = "message.received"
    SEND_COMPLETED = "send.completed"
    SEND_CANCELED = "send.canceled"
    SEND_HELD = "send.held"
    SUPPRESSION_CREATED = "suppression.created"
    SENDER_ID_APPROVED = "sender_id.approved"
    SENDER_ID_REJECTED = "sender_id.rejected"
    SENDER_ID_SUSPENDED = "sender_id.suspended"
    BALANCE_LOW = "balance.low"
    SPEND_THRESHOLD = "spend.threshold"
    STATEMENT_CLOSED = "statement.closed"
    PRICE_CHANGED = "price.changed"
    VERIFICATION_APPROVED = "verification.approved"
    WEBHOOK_DISABLED = "webhook.disabled"
    WEBHOOK_TEST = "webhook.test"


class Category(StrEnum):
    """What a send is for. Decides its priority in the queue."""

    AUTHENTICATION = "authentication"
    TRANSACTIONAL = "transactional"
    MARKETING = "marketing"


LANES: Final = (Category.AUTHENTICATION, Category.TRANSACTIONAL, Category.MARKETING)
"""A category's lane is its index here."""

LANE_WEIGHTS: Final = (64, 8, 1)
"""A lane's priority over the last lane, for the same number of segments."""

STORED_STATUSES: Final = (
    MessageStatus.IN_DOUBT,
    MessageStatus.SENT,
    MessageStatus.REJECTED,
    MessageStatus.FAILED,
    MessageStatus.CANCELED,
    MessageStatus.EXPIRED,
    MessageStatus.UNDELIVERED,
    MessageStatus.DELIVERED,
)
"""Those that have a counter on the send."""

CHARGED_STATUSES: Final = frozenset({MessageStatus.SENT, MessageStatus.UNDELIVERED, MessageStatus.DELIVERED})

_S = MessageStatus
ALLOWED_TRANSITIONS: Final[dict[MessageStatus, frozenset[MessageStatus]]] = {
    _S.SCHEDULED: frozenset({_S.QUEUED, _S.CANCELED, _S.EXPIRED}),
    _S.QUEUED: frozenset({_S.SENDING, _S.REJECTED, _S.CANCELED, _S.EXPIRED}),
    _S.SENDING: frozenset({_S.QUEUED, _S.SENT, _S.IN_DOUBT, _S.FAILED, _S.REJECTED}),
    _S.IN_DOUBT: frozenset({_S.SENT, _S.REJECTED, _S.FAILED, _S.EXPIRED, _S.UNDELIVERED, _S.DELIVERED}),
    _S.SENT: frozenset({_S.UNDELIVERED, _S.DELIVERED}),
    _S.UNDELIVERED: frozenset({_S.DELIVERED}),
    _S.REJECTED: frozenset(),
    _S.FAILED: frozenset(),
    _S.CANCELED: frozenset(),
    _S.EXPIRED: frozenset(),
    _S.DELIVERED: frozenset(),
}
"""The statements that change a stored status (worker/receipts/) are made from this.

`sending` goes back to `queued` only if the message was certainly not submitted."""

ACCOUNT_STATES: Final = ("active", "suspended", "frozen", "closed")
SENDER_ID_STATES: Final = ("pending", "approved", "rejected", "suspended")
DELIVERY_STATES: Final = ("pending", "delivered", "failed")
"""Of an event that is posted to a webhook."""


def as_sql(statuses: Iterable[MessageStatus]) -> str:
    """The statuses as a list of SQL literals, for `IN`."""
    return ", ".join(f"'{status}'" for status in sorted(statuses))


OPEN_SENDS: Final = frozenset(
    {SendState.SCHEDULED, SendState.EXPANDING, SendState.QUEUED, SendState.SENDING, SendState.PAUSED, SendState.HELD}
)
