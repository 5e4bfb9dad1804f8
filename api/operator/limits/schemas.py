"""Schemas of the limits and rules of accounts."""

from typing import Any

from marshmallow import Schema, ValidationError, post_load, validate, validates_schema

from api.operator.fields import ACCOUNT_ID, reason
from api.schemas import fields
from api.schemas.errors import fail
from api.schemas.fields import IN_RANGE, Request, doc
from api.schemas.rules import QuietHours
from shared.accounts.category_rules import MAX_CAP, MAX_HOURS
from shared.accounts.limits import MAX_DESTINATIONS, destinations
from shared.accounts.refused import Refused

MAX_INTEGER = 2**31 - 1
GUARDS = ("off", "watch", "block")
PER_PHONE = "Messages of `{}` to one phone number per hour; 0 means unlimited, null the installation's limit."


def _limit(least: int, description: str, example: int) -> fields.WholeNumber:
    return fields.WholeNumber(
        allow_none=True,
        validate=validate.Range(least, MAX_INTEGER, error=IN_RANGE),
        metadata=doc(description, example),
    )


class LimitChanges(Request):
    """Changed limits; the others stay, and null removes one."""

    requests_per_second = _limit(1, "Requests per second of all its keys together.", 50)
    spend_day = _limit(1, "Credits that its sends may reserve in a day (UTC).", 10_000)
    spend_month = _limit(1, "Credits that its sends may reserve in a month (UTC).", 100_000)
    destinations = fields.List(
        fields.String(validate=validate.Length(1, 15, error="Use {min} to {max} characters.")),
        allow_none=True,
        validate=validate.Length(1, MAX_DESTINATIONS, error="Name {min} to {max} destinations."),
        metadata=doc("The only prefixes (254) or countries (KE) that it may send to; null means all.", ["254", "UG"]),
    )
    pumping = fields.String(
        validate=validate.OneOf(GUARDS, error="Use one of {choices}."),
        metadata=doc("What to do about suspected pumping.", "watch", enum=[*GUARDS]),
    )
    recipient_authentication = _limit(0, PER_PHONE.format("authentication"), 20)
    recipient_transactional = _limit(0, PER_PHONE.format("transactional"), 100)
    recipient_marketing = _limit(0, PER_PHONE.format("marketing"), 10)
    reason = reason(required=False)

    @validates_schema
    def not_empty(self, data: dict[str, Any], **_: Any) -> None:
        """At least one field must be given."""
        if not data.keys() - {"reason"}:
            raise fail("required", "Provide at least one limit.")

    @post_load
    def as_prefixes(self, data: dict[str, Any], **_: Any) -> dict[str, Any]:
        """Countries become prefixes."""
        if data.get("destinations") is not None:
            try:
                data["destinations"] = destinations(data["destinations"])
            except Refused as refused:
                raise ValidationError({"destinations": {"code": "invalid", "detail": refused.reason}}) from None
        return data


class AccountLimitsResponse(Schema):
    """An account's own limits; null means that it has none of its own."""

    requests_per_second = fields.Integer(required=True, allow_none=True, metadata=doc("Requests per second.", 50))
    spend_day = fields.Integer(
        required=True, allow_none=True, metadata=doc("Credits that its sends may reserve in a day (UTC).", 10_000)
    )
    spend_month = fields.Integer(
        required=True, allow_none=True, metadata=doc("Credits that its sends may reserve in a month (UTC).")
    )
    spent_of_day = fields.Integer(
        required=True, allow_none=True, metadata=doc("Credits reserved today; null without a limit.", 900)
    )
    spent_of_month = fields.Integer(
        required=True, allow_none=True, metadata=doc("Credits reserved this month; null without a limit.")
    )
    destinations = fields.List(
        fields.String(), required=True, allow_none=True, metadata=doc("The only prefixes that it may send to.", ["254"])
    )
    pumping = fields.String(required=True, metadata=doc("What happens to suspected pumping.", "watch", enum=[*GUARDS]))
    recipient_authentication = fields.Integer(
        required=True, allow_none=True, metadata=doc(PER_PHONE.format("authentication"), 20)
    )
    recipient_transactional = fields.Integer(
        required=True, allow_none=True, metadata=doc(PER_PHONE.format("transactional"))
    )
    recipient_marketing = fields.Integer(required=True, allow_none=True, metadata=doc(PER_PHONE.format("marketing")))


class Cap(Request):
    """The most messages that one phone number gets within some hours."""

    messages = fields.WholeNumber(
        required=True, validate=validate.Range(1, MAX_CAP, error=IN_RANGE), metadata=doc("Messages.", 2)
    )
    hours = fields.WholeNumber(
        required=True, validate=validate.Range(1, MAX_HOURS, error=IN_RANGE), metadata=doc("Hours.", 24)
    )


class RuleChanges(Request):
    """Changed rules of a category; null removes one."""

    quiet_hours = fields.Nested(
        QuietHours,
        allow_none=True,
        metadata=doc("Hours in which messages wait, in the recipient's time.", {"from": "21:00", "until": "08:00"}),
    )
    cap = fields.Nested(
        Cap, allow_none=True, metadata=doc("The most messages to one phone number.", {"messages": 2, "hours": 24})
    )

    @validates_schema
    def not_empty(self, data: dict[str, Any], **_: Any) -> None:
        """At least one field must be given."""
        if not data:
            raise fail("required", "Provide at least one rule.")


class RuleQuietHoursResponse(Schema):
    """Quiet hours."""

    quiet_from = fields.String(
        required=True, data_key="from", attribute="from", metadata=doc("When they begin.", "21:00")
    )
    quiet_until = fields.String(
        required=True, data_key="until", attribute="until", metadata=doc("When they end.", "08:00")
    )


class RuleCapResponse(Schema):
    """A cap."""

    messages = fields.Integer(required=True, metadata=doc("Messages to one phone number.", 2))
    hours = fields.Integer(required=True, metadata=doc("Within this many hours.", 24))


class RuleResponse(Schema):
    """The rules of a category."""

    category = fields.String(required=True, metadata=doc("The category.", "marketing"))
    quiet_hours = fields.Nested(
        RuleQuietHoursResponse, required=True, allow_none=True, metadata=doc("Its quiet hours; null if it has none.")
    )
    cap = fields.Nested(RuleCapResponse, required=True, allow_none=True, metadata=doc("Its cap; null if it has none."))


class RulesResponse(Schema):
    """An account's rules."""

    data = fields.List(fields.Nested(RuleResponse), required=True, metadata=doc("The rules of each category."))


class FindingResponse(Schema):
    """Unusual traffic."""

    finding_id = fields.Integer(required=True, attribute="id", metadata=doc("The finding.", 12))
    account_id = fields.Integer(required=True, metadata=doc("The account.", ACCOUNT_ID))
    account = fields.String(required=True, metadata=doc("Its name.", "acme"))
    rule = fields.String(required=True, metadata=doc("The rule that was violated.", "block"))
    prefix = fields.String(required=True, metadata=doc("The common prefix of the phone numbers.", "254711000"))
    phones = fields.Integer(required=True, metadata=doc("Phone numbers in the window.", 11))
    most = fields.Integer(required=True, metadata=doc("The usual maximum of such phone numbers.", 10))
    refused = fields.Boolean(required=True, metadata=doc("Whether sends were refused.", False))
    found_at = fields.Timestamp(required=True, attribute="at", metadata=doc("When.", "2026-03-02T09:00:00.120Z"))
