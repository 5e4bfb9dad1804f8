"""Schemas of accounts."""

from typing import Any

from marshmallow import Schema, validate, validates, validates_schema

from api.operator.fields import ACCOUNT_ID, reason
from api.schemas import fields
from api.schemas.errors import fail
from api.schemas.fields import IN_RANGE, MAX_NAME_LENGTH, Request, doc
from api.schemas.paging import Paging
from shared.accounts.administration import check_name
from shared.accounts.change_account import MAX_THRESHOLD, MAX_WEIGHT
from shared.accounts.refused import Refused
from shared.lifecycle import ACCOUNT_STATES
from shared.settings import MAX_RETENTION_DAYS
from shared.sms.numbering import is_country


def _name(*, required: bool = False) -> fields.String:
    return fields.String(
        required=required,
        validate=[
            validate.Length(1, MAX_NAME_LENGTH, error="Use {min} to {max} characters."),
            validate.Predicate("isprintable", error="Remove the invisible characters."),
        ],
        metadata=doc("A name that no other account has.", "acme"),
    )


def _low_balance_threshold(**default: Any) -> fields.WholeNumber:
    return fields.WholeNumber(
        **default,
        validate=validate.Range(0, MAX_THRESHOLD, error=IN_RANGE),
        metadata=doc("Credits below which the balance is low.", 100),
    )


def _weight(**default: Any) -> fields.WholeNumber:
    return fields.WholeNumber(
        **default,
        validate=validate.Range(1, MAX_WEIGHT, error=IN_RANGE),
        metadata=doc("When accounts compete, one with weight 2 gets twice the share of one with weight 1.", 1),
    )


def _authentication(**default: Any) -> fields.StrictBoolean:
    return fields.StrictBoolean(
        **default, metadata=doc("Whether its sends may have the category `authentication`.", False)
    )


class AccountSearch(Paging):
    """Paging through accounts."""

    search = fields.String(
        validate=validate.Length(1, MAX_NAME_LENGTH, error="Use {min} to {max} characters."),
        metadata=doc("Only accounts with this in their name, ignoring upper and lower case, or with this id.", "acme"),
    )
    status = fields.String(
        validate=validate.OneOf(ACCOUNT_STATES, error="Use one of {choices}."),
        metadata=doc("Only accounts with this status.", "active", enum=[*ACCOUNT_STATES]),
    )


class AccountSettings(Request):
    """Settings of an account."""

    name = _name()
    country = fields.String(
        allow_none=True,
        metadata=doc("The country whose number format its contact lists use, by ISO 3166-1; null means none.", "KE"),
    )
    low_balance_threshold = _low_balance_threshold()
    weight = _weight()
    retention_days = fields.WholeNumber(
        allow_none=True,
        validate=validate.Range(1, MAX_RETENTION_DAYS, error=IN_RANGE),
        metadata=doc("Days after which texts and phone numbers are forgotten; null means as the installation.", 90),
    )
    authentication = _authentication()

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


class NewAccount(AccountSettings):
    """A new account."""

    name = _name(required=True)
    low_balance_threshold = _low_balance_threshold(load_default=100)
    weight = _weight(load_default=1)
    authentication = _authentication(load_default=False)


class AccountChanges(AccountSettings):
    """Changed settings of an account; the others stay."""

    reason = reason(required=False)

    @validates_schema
    def not_empty(self, data: dict[str, Any], **_: Any) -> None:
        """At least one field must be given."""
        if not data.keys() - {"reason"}:
            raise fail("required", "Provide at least one setting.")


class AccountResponse(Schema):
    """An account."""

    account_id = fields.Integer(required=True, attribute="id", metadata=doc("The account.", ACCOUNT_ID))
    name = fields.String(required=True, metadata=doc("Its name.", "acme"))
    status = fields.String(
        required=True,
        attribute="state",
        metadata=doc(
            "Whether it may send. `frozen`: its credits did not add up, and everything waits until it is activated.",
            "active",
            enum=[*ACCOUNT_STATES],
        ),
    )
    balance = fields.Integer(required=True, attribute="available", metadata=doc("Credits that it can spend.", 880))
    reserved = fields.Integer(required=True, metadata=doc("Credits reserved for accepted messages.", 120))
    low_balance_threshold = fields.Integer(required=True, metadata=doc("Credits below which the balance is low.", 100))
    weight = fields.Integer(required=True, metadata=doc("Its relative share of the carriers' rates.", 1))
    country = fields.String(
        required=True, allow_none=True, metadata=doc("The country of its contact lists; null means none.", "KE")
    )
    retention_days = fields.Integer(
        required=True,
        allow_none=True,
        metadata=doc("Days after which texts and phone numbers are forgotten; null means as the installation."),
    )
    authentication = fields.Boolean(
        required=True, metadata=doc("Whether its sends may have the category `authentication`.", False)
    )
    messages_today = fields.Integer(
        required=True, metadata=doc("Messages accepted since midnight (UTC) that have a result.", 1200)
    )
    delivered_today = fields.Integer(required=True, metadata=doc("Of these, the delivered ones.", 1100))
    failed_today = fields.Integer(
        required=True, metadata=doc("Of these, the undelivered, failed, rejected and expired ones.", 40)
    )
    credits_today = fields.Integer(required=True, metadata=doc("Credits charged for these.", 1180))
    created_at = fields.Timestamp(required=True, metadata=doc("When it was created.", "2026-03-02T09:00:00.120Z"))


class AccountDetailsResponse(AccountResponse):
    """An account, with what it has."""

    sender_ids = fields.List(fields.String(), required=True, metadata=doc("Its approved sender IDs.", ["ACME"]))
    api_keys = fields.Integer(required=True, metadata=doc("Live API keys that are not revoked.", 2))
    groups = fields.Integer(required=True, metadata=doc("Contact groups.", 3))
    open_sends = fields.Integer(required=True, metadata=doc("Sends that have not completed.", 1))
    test_credits = fields.Integer(
        required=True, allow_none=True, metadata=doc("Credits of its sandbox; null if it has none.", 1_000_000)
    )
