"""The interface of a carrier driver.

A driver knows one carrier's protocol and nothing else. The policy (order, pace, retries, money, doubt) lives above
it, so a new driver is made by copying one and changing how it talks.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple, Protocol
from uuid import UUID

from shared.carriers.error_catalogue import CATALOGUE
from shared.carriers.error_codes import SEPARATOR, says_opted_out, with_code
from shared.carriers.receipts import Receipt as Receipt
from shared.carriers.smpp.raw_part import RawPart
from shared.carriers.unreadable import Unreadable
from shared.inbound import Inbound
from shared.lifecycle import MessageStatus


class ResponseKind(StrEnum):
    """The meaning of a carrier's response to one submit."""

    ACCEPTED = "accepted"
    """The carrier has taken the message."""
    THROTTLED = "throttled"
    """Not taken: submitted too fast. Retried, and not counted as an attempt."""
    POSTPONED = "postponed"
    """Not taken for now, because of its recipient alone. Retried after the other messages, until its validity ends."""
    REJECTED = "rejected"
    """Not taken, and a retry would not help."""
    FAILED = "failed"
    """Not taken this time; a retry may succeed."""
    IN_DOUBT = "in_doubt"
    """Bytes were written and no response came. Not submitted again, unless RESEND_IN_DOUBT names its category."""


STATUS_OF = {
    ResponseKind.ACCEPTED: MessageStatus.SENT,
    ResponseKind.REJECTED: MessageStatus.FAILED,
    ResponseKind.FAILED: MessageStatus.FAILED,
    ResponseKind.IN_DOUBT: MessageStatus.IN_DOUBT,
}
"""The status of a message after its submit. A throttled or postponed one has none: it is submitted again."""


PARTLY_SENT = "partly_sent"
"""The error of a message in doubt of which the carrier has accepted some parts and refused others."""


class Outcome(NamedTuple):
    """One message's outcome, the carrier's message id (raw, as received) and the carrier's error code."""

    response: ResponseKind
    reference: str | None = None
    error: str | None = None
    is_unsubmitted: bool = False
    """Whether nothing of a throttled message was written: the driver held it back, not the carrier."""

    @property
    def lacks_route(self) -> bool:
        """Whether the carrier does not serve the destination, which says nothing about its health."""
        return self.error is not None and self.error.startswith(f"no_route{SEPARATOR}")


def unsubmitted(error: str | None) -> Outcome:
    """The outcome of a message of which nothing was written, for the reason `error`."""
    return Outcome(ResponseKind.THROTTLED, error=error, is_unsubmitted=True)


WITH_ERROR = frozenset({ResponseKind.REJECTED, ResponseKind.FAILED, ResponseKind.POSTPONED})
"""Responses whose error is stored."""


def status_of(response: ResponseKind, error: str) -> MessageStatus:
    """The status of a message that has an error: `rejected` if the carrier says that the person has opted out."""
    return MessageStatus.REJECTED if says_opted_out(error) else STATUS_OF[response]


def with_catalogue_error(outcome: Outcome, error_codes: Mapping[str, str]) -> Outcome:
    """The outcome with its error mapped to the catalogue by the carrier's `error_codes`, if the message may keep it.

    What these call permanent is not tried again, and says nothing about the carrier; but another one may have a route,
    so a message without one has only failed. What they call throttling slows everything down. If the carrier says that
    the person has opted out, the message was refused, whatever else it says, and is not tried again.
    """
    if outcome.error is None:
        return outcome
    error = with_code(outcome.error, error_codes)
    if says_opted_out(error):
        return Outcome(ResponseKind.REJECTED, error=error)
    code, mapped, _ = error.partition(SEPARATOR)
    if mapped and code == "no_route" and outcome.response is ResponseKind.REJECTED:
        return Outcome(ResponseKind.FAILED, error=error)
    if mapped and code == "throttled" and outcome.response is ResponseKind.FAILED:
        return outcome._replace(response=ResponseKind.THROTTLED)
    is_final = mapped and code in CATALOGUE and CATALOGUE[code].permanent and code != "no_route"
    if is_final and outcome.response is ResponseKind.FAILED:
        return Outcome(ResponseKind.REJECTED, error=error)
    return outcome._replace(error=error) if outcome.response in WITH_ERROR else outcome


SHORT_CODE_DIGITS = 8
"""Numeric senders of up to this many digits are short codes, which have no country code."""


@dataclass(frozen=True, slots=True)
class MessageGroup:
    """Messages with the same text and sender: phones and message ids, in the same order."""

    sender_id: str
    text: str
    encoding: str
    segments: int
    expires_at: datetime
    ids: Sequence[UUID]
    phones: list[str]
    part: RawPart | None = None
    """What is passed on as it came, instead of the text."""
    tlvs: Mapping[int, bytes] = field(default_factory=dict)
    """Regulators' parameters of a submit over SMPP, by tag."""


class LateResponse(NamedTuple):
    """A response that arrived after `submit` had reported the message as in doubt."""

    message_id: UUID
    outcome: Outcome


class CarrierInbox(Protocol):
    """Takes what a carrier delivers. It is committed when a method returns: only then may the driver acknowledge it."""

    def store_receipts(self, receipts: list[Receipt]) -> None:
        """Store receipts."""

    def resolve_late(self, responses: list[LateResponse]) -> list[LateResponse]:
        """Resolve the doubts of the responses' messages.

        Returns the responses that came before their doubts were recorded: they must be reported again.
        """

    def store_inbound(self, messages: list[Inbound]) -> None:
        """Store inbound messages."""

    def store_unreadable(self, deliveries: list[Unreadable]) -> None:
        """Store deliveries that could not be read."""

    def unmatched(self) -> dict[int, Receipt]:
        """The newest final receipts that no process of this carrier could match, by their number."""

    def replace_unmatched(self, numbers: list[int], receipts: list[Receipt]) -> None:
        """Store these receipts instead of the unmatched ones."""


class Pace(Protocol):
    """How fast messages may be written. Drivers call it before each write; the policy lies above them."""

    @property
    def chunk(self) -> int:
        """The most segments written together; 0 means no limit, and `take` need not be called."""

    @property
    def allowed(self) -> float:
        """Segments per second allowed at present; 0 means no limit. Not for drivers."""

    @property
    def contended(self) -> bool:
        """Whether cycles wait for the pace rather than for the carrier's responses. Not for drivers."""

    def take(self, segments: int, deadline: float) -> bool:
        """Wait until this many segments may be written. False if not before `deadline` (monotonic): write none."""

    def schedule_claim(self, segments: int) -> bool:
        """Wait until a cycle may claim this many segments. False if it may claim none now. Not for drivers."""

    def correct_schedule(self, segments: int, claimed: int) -> None:
        """Report how many of the scheduled segments the cycle claimed. Not for drivers."""

    def throttled(self, taken: float) -> None:
        """Report that the carrier throttles after taking this many segments per second. Not for drivers."""


class UnlimitedPace:
    """The pace of a carrier without a limit."""

    chunk, allowed, contended = 0, 0.0, False

    def take(self, segments: int, deadline: float) -> bool:
        """Return True at once."""
        return True

    def schedule_claim(self, segments: int) -> bool:
        """Return True at once."""
        return True

    def correct_schedule(self, segments: int, claimed: int) -> None:
        """Do nothing."""

    def throttled(self, taken: float) -> None:
        """Do nothing."""


class Carrier(Protocol):
    """One carrier, opened once per worker process and used by cycles in several threads."""

    name: str
    rate: float
    """Segments per second that the carrier takes from all workers together; 0: no limit. May change."""
    window: int
    """Most messages outstanding at a time, per process. May change at any time."""
    pace: Pace
    """Consulted before messages are written; set before the driver is opened."""

    @property
    def trouble(self) -> str | None:
        """Why nothing can be submitted now, such as a lost connection; None if messages can be submitted."""

    @property
    def unreadable(self) -> int:
        """Deliveries that could not be read since the driver was created."""

    @property
    def unmatched_responses(self) -> int:
        """Responses that matched no outstanding request."""

    def open(self, inbox: CarrierInbox) -> None:
        """Connect, and begin to deliver receipts, late responses and inbound messages.

        Returns at once; connecting is retried. A driver that tells parts from messages finds the receipts in
        `inbox.unmatched` that came over the bind of another process.
        """

    def submit(self, message_groups: list[MessageGroup], limit: Pace | None = None) -> list[Outcome]:
        """Submit the messages pipelined. Returns one outcome per message, in order, within the response timeout.

        `limit` is an additional pace for these messages. They wait for it before they occupy the carrier's window.
        """

    def close(self) -> None:
        """Stop, after waiting briefly for outstanding responses."""
