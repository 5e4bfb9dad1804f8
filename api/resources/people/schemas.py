"""Schemas of the people of an account."""

from api.schemas import fields
from api.schemas.base import Request, Response
from api.schemas.people import EMAIL, PERSON_ID, role_field

JOINED_AT, SIGNED_IN_AT = "2026-03-01T08:00:00.000Z", "2026-03-02T09:00:00.120Z"


class ChangeRole(Request):
    """Another role in the account."""

    role = role_field("The new role.", required=True)


class MemberResponse(Response):
    """A person of the account."""

    person_id = fields.UUID("The person.", PERSON_ID)
    email = fields.String("Their e-mail address.", EMAIL)
    name = fields.String("Their name.", "Ann Otieno")
    role = role_field("Their role in the account.")
    totp = fields.Boolean("Whether their sign-in needs a code.", True)
    last_sign_in_at = fields.Timestamp("When they signed in last; null if never.", SIGNED_IN_AT, allow_none=True)
    created_at = fields.Timestamp("When they joined the account.", JOINED_AT)


class RemovedMemberResponse(Response):
    """The person is no longer in the account."""

    person_id = fields.UUID("The person.", PERSON_ID)
    removed = fields.Boolean("Their tokens for the account are revoked.", True)
