"""The windows of a turn: what is submitted together, and what becomes of it."""

from datetime import UTC, datetime, timedelta

from shared.ids import MessageIds
from shared.lifecycle import MessageStatus
from worker.carriers.base import Answer, Outcome, Parcel
from worker.sending.claimed_batch import MOST_ATTEMPTS, FailedAttempt, Result, Slice

STATUS_OF = {
    Answer.ACCEPTED: MessageStatus.SENT,
    Answer.REJECTED: MessageStatus.FAILED,
    Answer.FAILED: MessageStatus.FAILED,
    Answer.IN_DOUBT: MessageStatus.IN_DOUBT,
}

Window = list[tuple[Slice, list[int]]]
"""Places to submit together, by slice."""


def next_window(slices: list[Slice], size: int) -> Window:
    """Up to `size` messages that may leave now."""
    window: Window = []
    for piece in slices:
        if size > 0 and not piece.lost and not piece.halted and (places := piece.take(size)):
            window.append((piece, places))
            size -= len(places)
    return window


def unfinished(slices: list[Slice]) -> bool:
    """Whether any slice has messages that this turn may still submit."""
    return any(piece.unfinished for piece in slices)


def parcels(window: Window) -> list[Parcel]:
    """The window as a driver takes it."""
    made = []
    for piece, places in window:
        if piece.personal is None:
            made.append(_parcel(piece, piece.message, piece.encoding, places))
        else:
            made += [_parcel(piece, *piece.personal.text(place), [place]) for place in places]
    return made


def _parcel(piece: Slice, text: str, encoding: str, places: list[int]) -> Parcel:
    return Parcel(
        sender_id=piece.sender_id,
        text=text,
        encoding=encoding,
        segments=piece.segments,
        expires_at=piece.expires_at,
        ids=MessageIds(piece.batch_id, [piece.indexes[place] for place in places]),
        phones=[piece.phones[place] for place in places],
    )


def note(window: Window, outcomes: list[Outcome], several: bool = False, answer_time: float = 0.0) -> bool:
    """Keep each message's result. Returns whether any go again in this turn: throttled, or failed and not too often.

    Where there are `several` carriers, what failed is put aside: after this turn another one may take it. The window
    has just been answered, `answer_time` seconds after it was submitted, whatever became of the clock meanwhile.
    """
    at, answer_ms = str(datetime.now(UTC) - timedelta(seconds=answer_time)), round(answer_time * 1000)
    again = False
    answers = iter(outcomes)
    for piece, places in window:
        piece.answer_ms[at] = answer_ms
        for place in places:
            answer, reference, error = next(answers)
            attempts = piece.again.pop(place, 0) + (answer is not Answer.THROTTLED)
            if answer is Answer.THROTTLED or (answer is Answer.FAILED and attempts + piece.attempts < MOST_ATTEMPTS):
                later = piece.aside if several and answer is Answer.FAILED else piece.again
                later[place] = attempts
                again |= later is piece.again
                if answer is Answer.FAILED:
                    piece.failed.append(FailedAttempt(piece.indexes[place], at, error))
            else:
                piece.put(place, Result(STATUS_OF[answer], reference, error, at, attempts + piece.attempts))
    return again
