"""Fields of the options that a new send takes, and that can be changed later."""

from marshmallow import validate

from api.schemas import fields
from api.schemas.fields import IN_RANGE, doc

ON_UNICODE = (
    "What to do if the message has characters that are not in GSM-7: `send` it as UCS-2, `transliterate` it if that"
    " keeps its meaning, or `reject` the request."
)


def on_unicode() -> fields.String:
    """What to do with a text that is not GSM-7."""
    return fields.String(
        validate=validate.OneOf(["send", "transliterate", "reject"]),
        load_default="send",
        metadata=doc(ON_UNICODE, "send"),
    )


def max_segments() -> fields.WholeNumber:
    """The most segments of a message."""
    return fields.WholeNumber(
        validate=validate.Range(1, 30, error=IN_RANGE), metadata=doc("Refuse the message if it takes more segments.", 2)
    )


def rate(description: str, *, allow_none: bool = False) -> fields.WholeNumber:
    """The most segments per second of a send."""
    return fields.WholeNumber(
        allow_none=allow_none, validate=validate.Range(1, 100_000, error=IN_RANGE), metadata=doc(description, 50)
    )
