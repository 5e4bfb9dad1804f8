"""Fields that several themes of the operator API share."""

from typing import Any

from marshmallow import validate

from api.schemas import fields
from api.schemas.fields import IN_RANGE, Request, doc
from api.schemas.paging import Paging
from shared.ids import LAST_NUMBER

MAX_REASON_LENGTH = 500
ACCOUNT_ID = 17
ACTOR = "operator key opk_4f1cQ9zK27Lb"


def reason(*, required: bool = True) -> fields.String:
    """Why a change is made."""
    return fields.String(
        required=required,
        validate=[
            validate.Length(1, MAX_REASON_LENGTH, error="Use {min} to {max} characters."),
            validate.Predicate("isprintable", error="Remove the invisible characters."),
            validate.Predicate("strip", error="Say why."),
        ],
        metadata=doc("Why; kept in the audit log.", "invoice 2026-0117"),
    )


def account_id(description: str = "The account.", **options: Any) -> fields.WholeNumber:
    """An account's id in a body."""
    return fields.WholeNumber(
        validate=validate.Range(1, LAST_NUMBER, error=IN_RANGE), metadata=doc(description, ACCOUNT_ID), **options
    )


class WithReason(Request):
    """A change with its reason."""

    reason = reason()


class WithOptionalReason(Request):
    """A change with its reason, if there is one to give."""

    reason = reason(required=False)


class AccountPaging(Paging):
    """Paging through what belongs to one account, or to all."""

    account_id = fields.Integer(
        validate=validate.Range(1, LAST_NUMBER, error=IN_RANGE), metadata=doc("Only of this account.", ACCOUNT_ID)
    )
