"""Fields that several themes of the operator API share."""

from typing import Any

from marshmallow import validate

from api.schemas import fields
from api.schemas.base import Request
from api.schemas.paging import Paging
from shared.ids import LAST_NUMBER

MAX_REASON_LENGTH = 500
ACCOUNT_ID = 17
ACTOR = "operator key opk_4f1cQ9zK27Lb"


def reason(*, required: bool = True) -> fields.String:
    """Why a change is made."""
    return fields.String(
        "Why; kept in the audit log.",
        "invoice 2026-0117",
        required=required,
        validate=[
            fields.length(1, MAX_REASON_LENGTH),
            validate.Predicate("isprintable", error="Remove the invisible characters."),
            validate.Predicate("strip", error="Say why."),
        ],
    )


def account_id(description: str = "The account.", **options: Any) -> fields.WholeNumber:
    """An account's id in a body."""
    return fields.WholeNumber(description, ACCOUNT_ID, validate=fields.between(1, LAST_NUMBER), **options)


class WithReason(Request):
    """A change with its reason."""

    reason = reason()


class WithOptionalReason(Request):
    """A change with its reason, if there is one to give."""

    reason = reason(required=False)


class AccountPaging(Paging):
    """Paging through what belongs to one account, or to all."""

    account_id = fields.Integer("Only of this account.", ACCOUNT_ID, validate=fields.between(1, LAST_NUMBER))
