"""Schemas of the rules of a send: `stop_if`, `canary`, `quiet_hours` and `cap`."""

import re
from typing import Any, ClassVar

from marshmallow import validates_schema

from api.schemas import fields
from api.schemas.base import Request, Response
from api.schemas.errors import fail
from shared.sends.quiet_hours import clock
from shared.sends.rules import Rules

SHARE = re.compile(r"([0-9]{1,2}(?:\.[0-9]{1,3})?)%", re.ASCII)
SHARE_UNITS = 100_000
"""A share such as "7.125%" is a whole number of units: SHARE allows no more decimals."""
CLOCK = re.compile(r"([01][0-9]|2[0-3]):([0-5][0-9])", re.ASCII)
MAX_CANARY = 1_000_000


class Share(fields.Float):
    """A number above 0 and below 1."""

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
        match = SHARE.fullmatch(value) if isinstance(value, str) else None
        if match is not None and float(match[1]) > 0:
            return float(match[1]) / 100
        if isinstance(value, (int, float)) and not isinstance(value, bool) and value in range(1, MAX_CANARY + 1):
            return int(value)
        raise fail("invalid", f'Use a count from 1 to {MAX_CANARY:,}, or a share such as "1%".')


def canary_messages(canary: int | float, recipients: int) -> int:
    """The number of messages of a canary, as CountOrShare loads it. A share is rounded up, exactly: 7 % of 100 is 7."""
    return canary if isinstance(canary, int) else -(-round(canary * SHARE_UNITS) * recipients // SHARE_UNITS)


class StopIf(Request):
    """When failures hold the send."""

    failed_share = Share(
        "The send is held when more than this share of the messages with a result from a carrier has failed.",
        0.2,
        required=True,
    )
    min_messages = fields.WholeNumber(
        "The rule applies once this many messages have a result from a carrier.",
        100,
        load_default=100,
        validate=fields.between(1, 1_000_000),
    )


class TimeOfDay(fields.String):
    """A time of day, such as 21:00; loaded as the minute of the day."""

    json_schema: ClassVar[dict[str, Any]] = {"pattern": f"^{CLOCK.pattern}$"}

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        match = CLOCK.fullmatch(value) if isinstance(value, str) else None
        if match is None:
            raise fail("invalid_time", "Use a time of day from 00:00 to 23:59, such as 21:00.")
        return int(match[1]) * 60 + int(match[2])


class QuietHours(Request):
    """Hours in which messages wait, in the recipient's local time."""

    quiet_from = TimeOfDay("When they begin.", required=True, data_key="from")
    quiet_until = TimeOfDay(
        "When they end; earlier than `from` means on the next day.", required=True, data_key="until"
    )

    @validates_schema
    def not_empty(self, data: dict[str, Any], **_: Any) -> None:
        """Equal times could mean no hours or all of them."""
        if data["quiet_from"] == data["quiet_until"]:
            raise fail("invalid_time", "`from` and `until` must differ.")


class PartRules(Request):
    """Rules for a send to several recipients."""

    stop_if = fields.Nested(
        StopIf,
        "Hold the send when too many of its messages fail, which means that a carrier refuses them or reports them"
        " undelivered. POST /sends/{send_id}/resume continues it.",
        {"failed_share": 0.2, "min_messages": 100},
    )
    canary = CountOrShare(
        "Send this many messages first, or this share of them, and hold the rest. The send continues automatically"
        " when enough of them are delivered, 90 % or as many as `stop_if` requires, or on POST"
        " /sends/{send_id}/resume.",
        "1%",
    )


class StopRuleResponse(Response):
    """When failures hold the send."""

    failed_share = fields.Float(
        "The send is held when more than this share of the messages with a result from a carrier has failed.", 0.2
    )
    min_messages = fields.Integer("The rule applies once this many messages have a result from a carrier.", 100)


class CapResponse(Response):
    """Maximum number of messages of the send's category to one phone number in a period."""

    messages = fields.Integer(
        "Maximum messages to a phone number in the period. Further ones are `rejected` and not charged.", 3
    )
    hours = fields.Integer("Length of the period, in hours.", 168)


class QuietHoursRuleResponse(Response):
    """Hours in which messages wait, in the recipient's local time."""

    quiet_from = fields.String(
        "When they begin, in the recipient's local time.", "21:00", data_key="from", attribute="from"
    )
    until = fields.String("When they end; earlier than `from` means on the next day.", "08:00")


def rules_response(rules: Rules | None) -> dict[str, Any]:
    """The rules as in API responses."""
    rules = rules or {}
    quiet, cap = rules.get("quiet"), rules.get("cap")
    return {
        "stop_if": rules.get("stop_if"),
        "canary": rules.get("canary"),
        "quiet_hours": quiet and {"from": clock(quiet[0]), "until": clock(quiet[1])},
        "cap": cap and {"messages": cap[0], "hours": cap[1]},
    }
