"""Rules that a send brings along, as requests."""

import re
from typing import Any, ClassVar

from marshmallow import validate, validates_schema

from api.schemas import fields
from api.schemas.base import Request
from api.schemas.errors import fail
from api.schemas.fields import IN_RANGE, doc

SHARE = re.compile(r"([0-9]{1,2}(?:\.[0-9]{1,3})?)%", re.ASCII)
CLOCK = re.compile(r"([01][0-9]|2[0-3]):([0-5][0-9])", re.ASCII)
MAX_CANARY = 1_000_000


class Share(fields.Float):
    """A share, above 0 and below 1."""

    json_schema: ClassVar[dict[str, Any]] = {"exclusiveMinimum": 0, "exclusiveMaximum": 1}

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise fail("wrong_type", "Use a number, such as 0.2, without quotes.")
        if not 0 < value < 1:
            raise fail("invalid", "Use a share above 0 and below 1, such as 0.2.")
        return float(value)


class CountOrShare(fields.Raw):
    """A count, or a share such as "1%", loaded as a float below 1."""

    json_schema: ClassVar[dict[str, Any]] = {
        "anyOf": [
            {"type": "integer", "minimum": 1, "maximum": MAX_CANARY},
            {"type": "string", "pattern": "^[0-9]{1,2}([.][0-9]{1,3})?%$"},
        ]
    }

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> int | float:
        found = SHARE.fullmatch(value) if isinstance(value, str) else None
        if found is not None and float(found[1]) > 0:
            return float(found[1]) / 100
        if isinstance(value, (int, float)) and not isinstance(value, bool) and value in range(1, MAX_CANARY + 1):
            return int(value)
        raise fail("invalid", f'Use a count from 1 to {MAX_CANARY:,}, or a share such as "1%".')


class StopIf(Request):
    """When to hold the send: more than this share of at least so many messages has failed."""

    failed_share = Share(
        required=True,
        metadata=doc("Hold it when more than this share has failed, of those that a carrier answered for.", 0.2),
    )
    over = fields.WholeNumber(
        load_default=100,
        validate=validate.Range(1, 1_000_000, error=IN_RANGE),
        metadata=doc("Not before so many messages were answered for.", 100),
    )


class TimeOfDay(fields.String):
    """A time of day, such as 21:00; loaded as the minute of the day."""

    json_schema: ClassVar[dict[str, Any]] = {"pattern": f"^{CLOCK.pattern}$"}

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        found = CLOCK.fullmatch(value) if isinstance(value, str) else None
        if found is None:
            raise fail("invalid_time", "Use a time of day from 00:00 to 23:59, such as 21:00.")
        return int(found[1]) * 60 + int(found[2])


class QuietHours(Request):
    """When nothing is sent, by the clock of the recipient."""

    quiet_from = TimeOfDay(required=True, data_key="from", metadata=doc("When it begins."))
    quiet_until = TimeOfDay(
        required=True,
        data_key="until",
        metadata=doc("When it ends; may be on the next day."),
    )

    @validates_schema
    def some_of_the_day(self, data: dict[str, Any], **_: Any) -> None:
        """Not none of the day, or all of it."""
        if data["quiet_from"] == data["quiet_until"]:
            raise fail("invalid_time", "`from` and `until` are the same.")


class PartRules(Request):
    """What a send to several recipients may bring along."""

    stop_if = fields.Nested(
        StopIf,
        metadata=doc(
            "Hold the send when too many of its messages fail: refused by the carrier, or reported as undelivered."
            " It goes on by `resume`.",
            {"failed_share": 0.2, "over": 100},
        ),
    )
    canary = CountOrShare(
        metadata=doc(
            "So many messages go first, or this share of them; then the send is held until their receipts are good:"
            " as many delivered as `stop_if` asks for, without it 90 %. It goes on by itself then, or by `resume`.",
            "1%",
        )
    )
