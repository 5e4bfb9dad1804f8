"""Schemas of the people of an account."""

from marshmallow import Schema

from api.schemas import fields
from api.schemas.fields import Request, doc
from api.schemas.people import EMAIL, PERSON_ID, role_field

JOINED_AT, SIGNED_IN_AT = "2026-03-01T08:00:00.000Z", "2026-03-02T09:00:00.120Z"


class ChangeRole(Request):
    """Another role in the account."""

    role = role_field("The new role.", required=True)


class MemberResponse(Schema):
    """A person of the account."""

    person_id = fields.UUID(required=True, metadata=doc("The person.", PERSON_ID))
    email = fields.String(required=True, metadata=doc("Their e-mail address.", EMAIL))
    name = fields.String(required=True, metadata=doc("Their name.", "Ann Otieno"))
    role = role_field("Their role in the account.", required=True)
    totp = fields.Boolean(required=True, metadata=doc("Whether their sign-in needs a code.", True))
    last_sign_in_at = fields.Timestamp(
        required=True, allow_none=True, metadata=doc("When they signed in last; null if never.", SIGNED_IN_AT)
    )
    created_at = fields.Timestamp(required=True, metadata=doc("When they joined the account.", JOINED_AT))


class RemovedMemberResponse(Schema):
    """The person is no longer in the account."""

    person_id = fields.UUID(required=True, metadata=doc("The person.", PERSON_ID))
    removed = fields.Boolean(required=True, metadata=doc("Their tokens for the account are revoked.", True))
