"""One call of `submit`: turns its messages into PDUs, and the PDUs' responses into outcomes.

A multipart message is accepted when all of its parts are; its reference is the first part's id. If no part was
accepted, it has the worst part's outcome. If only some were, `submit` retries the temporarily refused parts. If some
are still refused then, the message is in doubt as `partly_sent`, because submitting it again would send the accepted
parts twice, also if others have no response. The first receipt of an accepted part then makes it undelivered, and
charged.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from uuid import UUID

from shared.carriers.smpp.constants import Tag
from shared.carriers.smpp.pdu import tlv
from worker.carriers.base import (
    PARTLY_SENT,
    LateResponse,
    MessageGroup,
    Outcome,
    Pace,
    ResponseKind,
    with_catalogue_error,
)
from worker.carriers.smpp.config import SmppConfig
from worker.carriers.smpp.multipart import MultipartMessage
from worker.carriers.smpp.parts import References, Unsendable, as_it_came, cut
from worker.carriers.smpp.status import CarrierResponse, outcome_of
from worker.carriers.smpp.submit_encoder import PartEncoder, bodies_of, head, shared_fields

ACCEPTED = ResponseKind.ACCEPTED
FOR_NOW = frozenset({ResponseKind.THROTTLED, ResponseKind.POSTPONED, ResponseKind.FAILED})
WORST_FIRST = (ResponseKind.REJECTED, ResponseKind.FAILED, ResponseKind.POSTPONED, ResponseKind.THROTTLED)


class Submission:
    """The messages of several message groups, in order."""

    def __init__(
        self, config: SmppConfig, references: References, message_groups: list[MessageGroup], limit: Pace | None = None
    ) -> None:
        self.limit = limit
        """The pace that its messages wait for before they occupy the carrier's window."""
        self.heads: list[bytes] = []
        self.bodies: list[bytes] = []
        self.responses: list[CarrierResponse] = []
        """One per PDU."""
        self.multiparts: list[tuple[MultipartMessage, int] | None] | None = None
        """For each PDU that is a part: its message and part number; None if no message is multipart."""
        self.cost = 1
        """Most segments of a PDU: more than one only if a long text goes as one message_payload."""
        self._starts: list[int] | None = None
        """The first PDU of each message, and the end; None if each message is one PDU."""
        self._refused: dict[int, Outcome] = {}
        self._message_groups = message_groups
        self._config = config
        self._references = references
        now = datetime.now(UTC)
        for message_group in message_groups:
            self._add(message_group, now)
        self.responses = [None] * len(self.bodies)

    def _add(self, message_group: MessageGroup, now: datetime) -> None:
        try:
            part = message_group.part
            if part is None:
                text = cut(self._config, message_group.text, message_group.segments)
                message = shared_fields(self._config, message_group, text, now)
            else:
                text = as_it_came(self._config, part)
                message = shared_fields(self._config, message_group, text, now)
                message.esm_class, message.tlvs = part.esm_class, {**message.tlvs, **part.tlvs}
        except (Unsendable, UnicodeEncodeError):
            self._refuse(message_group, "not_in_alphabet")
        except ValueError:
            self._refuse(message_group, "invalid_sender")
        else:
            if len(text.octets) == 1:
                self.cost = max(self.cost, message_group.segments)
                self._append(message_group, bodies_of(message, message_group.phones))
                return
            total = len(text.octets)
            parts = PartEncoder(self._config, message, text)
            starts, multiparts = self._in_parts()
            for identity, phone in zip(message_group.ids, message_group.phones, strict=True):
                self._extend(parts.bodies(phone, self._references.next(phone)), [identity] * total)
                long = MultipartMessage(total, phone, one_receipt=self._config.receipts_of_long_messages == "one")
                multiparts += [(long, number) for number in range(total)]
                starts.append(len(self.bodies))

    def _append(self, message_group: MessageGroup, bodies: list[bytes]) -> None:
        """Add messages of one PDU each."""
        self._extend(bodies, message_group.ids)
        if self._starts is not None and self.multiparts is not None:
            self._starts += range(self._starts[-1] + 1, len(self.bodies) + 1)
            self.multiparts += [None] * len(bodies)

    def _extend(self, bodies: list[bytes], ids: Sequence[UUID]) -> None:
        if self._config.user_message_reference:
            references = [tlv(Tag.USER_MESSAGE_REFERENCE, identity.bytes[-2:]) for identity in ids]
            bodies = [body + reference for body, reference in zip(bodies, references, strict=True)]
        tag = self._config.message_id_tag
        if tag is not None:
            bodies = [body + tlv(tag, identity.bytes) for body, identity in zip(bodies, ids, strict=True)]
        sizes = list(map(len, bodies))
        head_of = {size: head(size) for size in set(sizes)}
        self.heads += [head_of[size] for size in sizes]
        self.bodies += bodies

    def _refuse(self, message_group: MessageGroup, error: str) -> None:
        starts, _ = self._in_parts()
        for _ in message_group.ids:
            self._refused[len(starts) - 1] = Outcome(ResponseKind.REJECTED, error=error)
            starts.append(len(self.bodies))

    def _in_parts(self) -> tuple[list[int], list[tuple[MultipartMessage, int] | None]]:
        """Record where each message begins, as messages and PDUs no longer correspond one to one."""
        if self._starts is None or self.multiparts is None:
            self._starts = list(range(len(self.bodies) + 1))
            self.multiparts = [None] * len(self.bodies)
        return self._starts, self.multiparts

    def outcomes(self) -> list[Outcome]:
        """Each message's outcome, in order."""
        if self._starts is None:
            return [
                Outcome(ACCEPTED, response) if response.__class__ is str and response else self._outcome_of(response)
                for response in self.responses
            ]
        return [self._outcome(number, start, end) for number, start, end in self._spans()]

    def _spans(self) -> Iterator[tuple[int, int, int]]:
        """Each message's number, and the start and end of its PDUs."""
        starts = self._starts if self._starts is not None else range(len(self.bodies) + 1)
        return ((number, starts[number], starts[number + 1]) for number in range(len(starts) - 1))

    def _outcome(self, number: int, start: int, end: int) -> Outcome:
        if number in self._refused:
            return self._refused[number]
        outcome = self._outcome_of_parts([self._outcome_of(response) for response in self.responses[start:end]])
        if self.multiparts is not None and (long := self.multiparts[start]) is not None:
            long[0].in_doubt = outcome.response is ResponseKind.IN_DOUBT
            long[0].partly_sent = outcome.error == PARTLY_SENT
        return outcome

    def _outcome_of_parts(self, parts: list[Outcome]) -> Outcome:
        kinds = {part.response for part in parts}
        if len(kinds) == 1 and kinds <= {ResponseKind.ACCEPTED, ResponseKind.IN_DOUBT}:
            return parts[0]
        if ACCEPTED in kinds and not kinds.isdisjoint(WORST_FIRST):
            return Outcome(ResponseKind.IN_DOUBT, error=PARTLY_SENT)
        if ResponseKind.IN_DOUBT in kinds:
            return Outcome(ResponseKind.IN_DOUBT, error="no_response")
        return next(part for worst in WORST_FIRST for part in parts if part.response == worst)

    def _outcome_of(self, response: CarrierResponse) -> Outcome:
        """One PDU's outcome, with its error mapped to the catalogue."""
        return with_catalogue_error(outcome_of(response), self._config.error_codes)

    def left_over(self) -> list[int]:
        """Temporarily refused PDUs of messages of which another part was accepted."""
        if self.multiparts is None:
            return []
        indexes = []
        for _, start, end in self._spans():
            kinds = [outcome_of(response).response for response in self.responses[start:end]]
            if ACCEPTED in kinds and all(kind == ACCEPTED or kind in FOR_NOW for kind in kinds):
                indexes += [start + part for part, kind in enumerate(kinds) if kind != ACCEPTED]
        return indexes

    def late(self, index: int, response: CarrierResponse) -> LateResponse | None:
        """Record a response that came after `submit` returned. Returns None while its message is undecided."""
        self.responses[index] = response
        number, start, end = index, index, index + 1
        if self._starts is not None:
            number = bisect_right(self._starts, index) - 1
            start, end = self._starts[number], self._starts[number + 1]
        outcome = self._outcome(number, start, end)
        return None if None in self.responses[start:end] else LateResponse(self._id(number), outcome)

    def _id(self, number: int) -> UUID:
        for message_group in self._message_groups:
            if number < len(message_group.ids):
                return message_group.ids[number]
            number -= len(message_group.ids)
        raise IndexError(number)
