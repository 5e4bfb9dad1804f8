"""Schemas of the audit log."""

from marshmallow import Schema, validate

from api.operator.fields import ACCOUNT_ID, ACTOR, AccountPaging
from api.schemas import fields
from api.schemas.fields import doc

LENGTH = validate.Length(1, 200, error="Use {min} to {max} characters.")


class ChangePaging(AccountPaging):
    """Paging through changes."""

    actor = fields.String(validate=LENGTH, metadata=doc("Only by this `actor`, or by persons of this name.", ACTOR))
    action = fields.String(
        validate=LENGTH,
        metadata=doc("Only changes whose `action` begins with this: `key`, or `key.revoked`.", "account"),
    )


class ChangeResponse(Schema):
    """A change."""

    change_id = fields.Integer(required=True, attribute="id", metadata=doc("The change.", 4711))
    created_at = fields.Timestamp(required=True, attribute="at", metadata=doc("When.", "2026-03-02T09:00:00.120Z"))
    account_id = fields.Integer(required=True, allow_none=True, metadata=doc("The account; null if none.", ACCOUNT_ID))
    account = fields.String(required=True, allow_none=True, metadata=doc("The account's name.", "acme"))
    actor = fields.String(
        required=True,
        metadata=doc("Who: a key, a person, an operator key, a user of the command line, or a worker.", ACTOR),
    )
    actor_name = fields.String(
        required=True, allow_none=True, metadata=doc("The name of a person; null otherwise.", "Ann Otieno")
    )
    action = fields.String(required=True, metadata=doc("The kind of change.", "account.topped_up"))
    subject = fields.String(required=True, allow_none=True, metadata=doc("The id of what was changed."))
    before = fields.Raw(required=True, allow_none=True, metadata=doc("The changed values before.", {"available": 0}))
    after = fields.Raw(required=True, allow_none=True, metadata=doc("The changed values after.", {"available": 1000}))
    reason = fields.String(required=True, allow_none=True, metadata=doc("Why; null if nobody said.", "invoice 17"))
    request_id = fields.String(required=True, allow_none=True, metadata=doc("The request; null if there was none."))
    address = fields.String(required=True, allow_none=True, metadata=doc("Its address; null if there was none."))
