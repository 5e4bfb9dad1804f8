"""Options that a new send takes and that can be changed later, and what all responses about a send have in common."""

from api.schemas import fields
from api.schemas.base import Response

ON_UNICODE = (
    "What to do if the message has characters that are not in GSM-7: `send` it as UCS-2, `transliterate` it if that"
    " keeps its meaning, or `reject` the request."
)


def on_unicode() -> fields.String:
    """What to do with a text that is not GSM-7."""
    return fields.Choice(["send", "transliterate", "reject"], ON_UNICODE, "send", load_default="send")


def max_segments() -> fields.WholeNumber:
    """The most segments of a message."""
    return fields.WholeNumber("Refuse the message if it takes more segments.", 2, validate=fields.between(1, 30))


def rate(description: str, *, allow_none: bool = False) -> fields.WholeNumber:
    """The most segments per second of a send."""
    return fields.WholeNumber(description, 50, allow_none=allow_none, validate=fields.between(1, 100_000))


class OfSend(Response):
    """What every send, message and event of one shows."""

    reference = fields.String(
        "Your own reference, returned wherever the send appears. A message has that of its recipient, if there is one.",
        "order A-1042",
        allow_none=True,
    )
    test = fields.Boolean("Whether it belongs to the sandbox: it reaches no phone and uses play credits.", False)
