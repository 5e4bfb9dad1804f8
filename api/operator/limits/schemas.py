"""Schemas of the limits and rules of accounts."""

from typing import Any

from marshmallow import ValidationError, post_load, validate

from api.operator.fields import ACCOUNT_ID, reason
from api.schemas import fields
from api.schemas.base import Changes, Request, Response
from api.schemas.rules import CapResponse, QuietHours, QuietHoursRuleResponse
from shared.accounts.category_rules import MAX_CAP, MAX_HOURS
from shared.accounts.limits import MAX_DESTINATIONS, destinations
from shared.accounts.refused import Refused

MAX_INTEGER = 2**31 - 1
GUARDS = ("off", "watch", "block")
PER_PHONE = "Messages of `{}` to one phone number per hour; 0 means unlimited, null the installation's limit."


def _limit(least: int, description: str, example: int) -> fields.WholeNumber:
    return fields.WholeNumber(description, example, allow_none=True, validate=fields.between(least, MAX_INTEGER))


class LimitChanges(Changes):
    """Changed limits; the others stay, and null removes one."""

    requests_per_second = _limit(1, "Requests per second of all its keys together.", 50)
    spend_day = _limit(1, "Credits that its sends may reserve in a day (UTC).", 10_000)
    spend_month = _limit(1, "Credits that its sends may reserve in a month (UTC).", 100_000)
    destinations = fields.List(
        fields.String(validate=fields.length(1, 15)),
        "The only prefixes (254) or countries (KE) that it may send to; null means all.",
        ["254", "UG"],
        allow_none=True,
        validate=validate.Length(1, MAX_DESTINATIONS, error="Name {min} to {max} destinations."),
    )
    pumping = fields.Choice(GUARDS, "What to do about suspected pumping.", "watch")
    recipient_authentication = _limit(0, PER_PHONE.format("authentication"), 20)
    recipient_transactional = _limit(0, PER_PHONE.format("transactional"), 100)
    recipient_marketing = _limit(0, PER_PHONE.format("marketing"), 10)
    reason = reason(required=False)

    @post_load
    def as_prefixes(self, data: dict[str, Any], **_: Any) -> dict[str, Any]:
        """Countries become prefixes."""
        if data.get("destinations") is not None:
            try:
                data["destinations"] = destinations(data["destinations"])
            except Refused as refused:
                raise ValidationError({"destinations": {"code": "invalid", "detail": refused.reason}}) from None
        return data


class AccountLimitsResponse(Response):
    """An account's own limits; null means that it has none of its own."""

    requests_per_second = fields.Integer("Requests per second.", 50, allow_none=True)
    spend_day = fields.Integer("Credits that its sends may reserve in a day (UTC).", 10_000, allow_none=True)
    spend_month = fields.Integer("Credits that its sends may reserve in a month (UTC).", allow_none=True)
    spent_of_day = fields.Integer("Credits reserved today; null without a limit.", 900, allow_none=True)
    spent_of_month = fields.Integer("Credits reserved this month; null without a limit.", allow_none=True)
    destinations = fields.List(fields.String(), "The only prefixes that it may send to.", ["254"], allow_none=True)
    pumping = fields.String("What happens to suspected pumping.", "watch", one_of=GUARDS)
    recipient_authentication = fields.Integer(PER_PHONE.format("authentication"), 20, allow_none=True)
    recipient_transactional = fields.Integer(PER_PHONE.format("transactional"), allow_none=True)
    recipient_marketing = fields.Integer(PER_PHONE.format("marketing"), allow_none=True)


class NewCap(Request):
    """The most messages that one phone number gets within some hours."""

    messages = fields.WholeNumber("Messages.", 2, required=True, validate=fields.between(1, MAX_CAP))
    hours = fields.WholeNumber("Hours.", 24, required=True, validate=fields.between(1, MAX_HOURS))


class RuleChanges(Changes):
    """Changed rules of a category; null removes one."""

    quiet_hours = fields.Nested(
        QuietHours,
        "Hours in which messages wait, in the recipient's time.",
        {"from": "21:00", "until": "08:00"},
        allow_none=True,
    )
    cap = fields.Nested(NewCap, "The most messages to one phone number.", {"messages": 2, "hours": 24}, allow_none=True)


class RuleResponse(Response):
    """The rules of a category."""

    category = fields.String("The category.", "marketing")
    quiet_hours = fields.Nested(QuietHoursRuleResponse, "Its quiet hours; null if it has none.", allow_none=True)
    cap = fields.Nested(CapResponse, "Its cap; null if it has none.", allow_none=True)


class FindingResponse(Response):
    """Unusual traffic."""

    finding_id = fields.Integer("The finding.", 12, attribute="id")
    account_id = fields.Integer("The account.", ACCOUNT_ID)
    account = fields.String("Its name.", "acme")
    rule = fields.String("The rule that was violated.", "block")
    prefix = fields.String("The common prefix of the phone numbers.", "254711000")
    phones = fields.Integer("Phone numbers in the window.", 11)
    most = fields.Integer("The usual maximum of such phone numbers.", 10)
    refused = fields.Boolean("Whether sends were refused.", False)
    found_at = fields.Timestamp("When.", "2026-03-02T09:00:00.120Z", attribute="at")
