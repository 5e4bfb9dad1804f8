"""Schemas of accounts."""

from typing import Any

from marshmallow import validate, validates

from api.operator.fields import ACCOUNT_ID, reason
from api.schemas import fields
from api.schemas.base import Changes, Request, Response
from api.schemas.errors import fail
from api.schemas.fields import MAX_NAME_LENGTH
from api.schemas.paging import Paging
from shared.accounts.administration import check_name
from shared.accounts.change_account import MAX_THRESHOLD, MAX_WEIGHT
from shared.accounts.refused import Refused
from shared.accounts.verification_settings import NUMBERS, check_settings
from shared.lifecycle import ACCOUNT_STATES
from shared.settings import MAX_RETENTION_DAYS
from shared.sms.numbering import is_country

VERIFICATION = {"max_sends": 3, "texts": {"en": "{{code}} is your code for our shop."}}


def _name(*, required: bool = False) -> fields.String:
    return fields.String(
        "A name that no other account has.",
        "acme",
        required=required,
        validate=[
            fields.length(1, MAX_NAME_LENGTH),
            validate.Predicate("isprintable", error="Remove the invisible characters."),
        ],
    )


def _low_balance_threshold(**default: Any) -> fields.WholeNumber:
    return fields.WholeNumber(
        "Credits below which the balance is low.", 100, **default, validate=fields.between(0, MAX_THRESHOLD)
    )


def _weight(**default: Any) -> fields.WholeNumber:
    return fields.WholeNumber(
        "When accounts compete, one with weight 2 gets twice the share of one with weight 1.",
        1,
        **default,
        validate=fields.between(1, MAX_WEIGHT),
    )


def _authentication(**default: Any) -> fields.StrictBoolean:
    return fields.StrictBoolean("Whether its sends may have the category `authentication`.", False, **default)


class AccountSearch(Paging):
    """Paging through accounts."""

    search = fields.String(
        "Only accounts with this in their name, ignoring upper and lower case, or with this id.",
        "acme",
        validate=fields.length(1, MAX_NAME_LENGTH),
    )
    status = fields.Choice(ACCOUNT_STATES, "Only accounts with this status.", "active")


def _verification(end: str, **options: Any) -> fields.Dict:
    numbers = ", ".join(f"`{name}` ({usual}; {least} to {most})" for name, (usual, least, most) in NUMBERS.items())
    texts = "its own `texts` by language, with `{{code}}` and perhaps `{{name}}`"
    return fields.Dict(f"How its verifications work: {numbers}, and {texts}. {end}", VERIFICATION, **options)


class AccountSettings(Request):
    """Settings of an account."""

    name = _name()
    country = fields.String(
        "The country whose number format its contact lists use, by ISO 3166-1; null means none.", "KE", allow_none=True
    )
    low_balance_threshold = _low_balance_threshold()
    weight = _weight()
    retention_days = fields.WholeNumber(
        "Days after which texts and phone numbers are forgotten; null means as the installation.",
        90,
        allow_none=True,
        validate=fields.between(1, MAX_RETENTION_DAYS),
    )
    authentication = _authentication()
    credit_limit = fields.WholeNumber("Credits that it may owe.", 10_000, validate=fields.between(0, MAX_THRESHOLD))
    spend_threshold = fields.WholeNumber(
        "Credits charged in a month (UTC) at which it gets a `spend.threshold` event; null means none.",
        50_000,
        allow_none=True,
        validate=fields.between(1, MAX_THRESHOLD),
    )

    verification = _verification("What is left out, and all with null, is as usual.", allow_none=True)

    @validates("name")
    def a_name(self, name: str, data_key: str) -> None:
        """Names must be distinguishable from ids, and from those of sandboxes."""
        try:
            check_name(name)
        except Refused as refused:
            raise fail("invalid", refused.reason) from None

    @validates("country")
    def a_country(self, country: str | None, data_key: str) -> None:
        """One with phone numbers."""
        if country is not None and not is_country(country):
            raise fail("invalid", f"{country[:20]!r} is not a country with phone numbers. Use two letters, such as KE.")

    @validates("verification")
    def of_verifications(self, settings: dict[str, Any] | None, data_key: str) -> None:
        """Numbers in their bounds, and texts with the code."""
        try:
            check_settings(settings or {})
        except Refused as refused:
            raise fail("invalid", refused.reason) from None


class NewAccount(AccountSettings):
    """A new account."""

    name = _name(required=True)
    low_balance_threshold = _low_balance_threshold(load_default=100)
    weight = _weight(load_default=1)
    authentication = _authentication(load_default=False)


class AccountChanges(AccountSettings, Changes):
    """Changed settings of an account; the others stay."""

    reason = reason(required=False)


class AccountResponse(Response):
    """An account."""

    account_id = fields.Integer("The account.", ACCOUNT_ID, attribute="id")
    name = fields.String("Its name.", "acme")
    status = fields.String(
        "Whether it may send. `frozen`: its credits did not add up, and everything waits until it is activated.",
        "active",
        attribute="state",
        one_of=ACCOUNT_STATES,
    )
    balance = fields.Integer("Credits that it can spend, including its credit limit.", 880)
    credit_limit = fields.Integer("Credits that it may owe.", 0)
    reserved = fields.Integer("Credits reserved for accepted messages.", 120)
    low_balance_threshold = fields.Integer("Credits below which the balance is low.", 100)
    spend_threshold = fields.Integer(
        "Credits charged in a month (UTC) at which it gets a `spend.threshold` event; null means none.", allow_none=True
    )
    weight = fields.Integer("Its relative share of the carriers' rates.", 1)
    country = fields.String("The country of its contact lists; null means none.", "KE", allow_none=True)
    retention_days = fields.Integer(
        "Days after which texts and phone numbers are forgotten; null means as the installation.", allow_none=True
    )
    authentication = fields.Boolean("Whether its sends may have the category `authentication`.", False)
    messages_today = fields.Integer("Messages accepted since midnight (UTC) that have a result.", 1200)
    delivered_today = fields.Integer("Of these, the delivered ones.", 1100)
    failed_today = fields.Integer("Of these, the undelivered, failed, rejected and expired ones.", 40)
    credits_today = fields.Integer("Credits charged for these.", 1180)
    created_at = fields.Timestamp("When it was created.", "2026-03-02T09:00:00.120Z")


class AccountDetailsResponse(AccountResponse):
    """An account, with what it has."""

    sender_ids = fields.List(fields.String(), "Its approved sender IDs.", ["ACME"])
    api_keys = fields.Integer("Live API keys that are not revoked.", 2)
    groups = fields.Integer("Contact groups.", 3)
    open_sends = fields.Integer("Sends that have not completed.", 1)
    verification = _verification("All that is in effect.", attribute="verification_settings")
    test_credits = fields.Integer("Credits of its sandbox; null if it has none.", 1_000_000, allow_none=True)
