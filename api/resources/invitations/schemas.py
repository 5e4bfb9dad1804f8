"""Schemas of invitations."""

from api.resources.sign_in.schemas import SESSION_EXPIRES_AT
from api.schemas import fields
from api.schemas.base import Request, Response
from api.schemas.people import (
    EMAIL,
    INVITATION_ID,
    Email,
    code_field,
    name_field,
    password_field,
    role_field,
    secret_field,
)
from shared.people.roles import OPERATOR_ROLES

TOKEN = "smsv_<token of the link>"
CREATED_AT, EXPIRES_AT = "2026-03-02T09:00:00.120Z", SESSION_EXPIRES_AT


class Invite(Request):
    """Whom to invite to the account, in which role."""

    email = Email("The e-mail address of the person.", EMAIL, required=True)
    role = role_field("Their role in the account.", required=True)


class InvitationToken(Request):
    """The token of an invitation."""

    token = secret_field("The token at the end of the invitation's link.", TOKEN)


class Acceptance(InvitationToken):
    """The token of an invitation, and the password of the person."""

    name = name_field("The name of a new person; of others it is ignored.")
    password = password_field("Their password; a new person chooses one of 12 to 200 characters.", required=True)
    code = code_field("A code, of an existing person who uses TOTP.")


class InvitationResponse(Response):
    """An invitation to the account."""

    invitation_id = fields.UUID("The invitation.", INVITATION_ID, attribute="id")
    email = fields.String("The e-mail address of the person.", EMAIL)
    role = role_field("Their role in the account.")
    created_at = fields.Timestamp("When they were invited.", CREATED_AT)
    expires_at = fields.Timestamp("When the invitation expires.", EXPIRES_AT)


class NewInvitationResponse(InvitationResponse):
    """A new invitation with its token, which is shown only once: a replayed response does not contain it."""

    token = fields.String(
        "The token: the person accepts it with POST /api/v1/invitations/accept. Absent if `Idempotency-Replayed` is"
        " true.",
        "smsv_<shown once>",
        required=False,
    )


class RevokedInvitationResponse(Response):
    """The invitation is revoked."""

    invitation_id = fields.UUID("The invitation.", INVITATION_ID)
    revoked = fields.Boolean("The invitation cannot be accepted any more.", True)


class InvitationPreviewResponse(Response):
    """What an invitation offers."""

    email = fields.String("The e-mail address of the person.", EMAIL)
    account_name = fields.String("The account; null if it is for operators only.", "acme", allow_none=True)
    role = role_field("Their role in the account; null without one.", allow_none=True)
    operator_role = fields.String(
        "Their role in the installation; null for customers.", None, allow_none=True, one_of=[*OPERATOR_ROLES, None]
    )
    expires_at = fields.Timestamp("When the invitation expires.", EXPIRES_AT)
