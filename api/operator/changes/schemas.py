"""Schemas of the audit log."""

from api.operator.fields import ACCOUNT_ID, ACTOR, AccountPaging
from api.schemas import fields
from api.schemas.base import Response

LENGTH = fields.length(1, 200)


class ChangePaging(AccountPaging):
    """Paging through changes."""

    actor = fields.String("Only by this `actor`, or by persons of this name.", ACTOR, validate=LENGTH)
    action = fields.String(
        "Only changes whose `action` begins with this: `key`, or `key.revoked`.", "account", validate=LENGTH
    )


class ChangeResponse(Response):
    """A change."""

    change_id = fields.Integer("The change.", 4711, attribute="id")
    created_at = fields.Timestamp("When.", "2026-03-02T09:00:00.120Z", attribute="at")
    account_id = fields.Integer("The account; null if none.", ACCOUNT_ID, allow_none=True)
    account = fields.String("The account's name.", "acme", allow_none=True)
    actor = fields.String("Who: a key, a person, an operator key, a user of the command line, or a worker.", ACTOR)
    actor_name = fields.String("The name of a person; null otherwise.", "Ann Otieno", allow_none=True)
    action = fields.String("The kind of change.", "account.topped_up")
    subject = fields.String("The id of what was changed.", allow_none=True)
    before = fields.Raw("The changed values before.", {"available": 0}, allow_none=True)
    after = fields.Raw("The changed values after.", {"available": 1000}, allow_none=True)
    reason = fields.String("Why; null if nobody said.", "invoice 17", allow_none=True)
    request_id = fields.String("The request; null if there was none.", allow_none=True)
    address = fields.String("Its address; null if there was none.", allow_none=True)
