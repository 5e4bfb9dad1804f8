"""Schemas of sends."""

from typing import get_args

from marshmallow import Schema

from api.operator.fields import ACCOUNT_ID, AccountPaging
from api.schemas import fields
from api.schemas.examples import API_KEY, EXPIRES_AT, SEND_ID
from api.schemas.fields import doc
from shared.lifecycle import STORED_STATUSES, SendState
from shared.sends.holding import HeldBy


class OperatorSendPaging(AccountPaging):
    """Paging through sends."""

    open = fields.QueryBoolean(load_default=False, metadata=doc("Only sends that have not completed.", True))
    status = fields.Enum(
        SendState,
        by_value=True,
        metadata=doc("Only sends with this status.", "held", enum=[*map(str, SendState)]),
    )


class OperatorSendResponse(Schema):
    """A send of an account, without its text."""

    send_id = fields.UUID(required=True, attribute="id", metadata=doc("The send.", SEND_ID))
    account_id = fields.Integer(required=True, metadata=doc("The account.", ACCOUNT_ID))
    account = fields.String(required=True, metadata=doc("Its name.", "acme"))
    status = fields.String(
        required=True, attribute="state", metadata=doc("Where it is.", "sending", enum=[*map(str, SendState)])
    )
    kind = fields.String(
        required=True, metadata=doc("To one phone number, a list or a group.", "bulk", enum=["single", "bulk", "group"])
    )
    test = fields.Boolean(required=True, metadata=doc("Whether it is of a test key, for the simulated carrier.", False))
    sender_id = fields.String(required=True, metadata=doc("The sender ID.", "ACME"))
    category = fields.String(required=True, metadata=doc("The category.", "transactional"))
    accepted = fields.Integer(required=True, metadata=doc("Messages.", 3))
    waiting = fields.Integer(required=True, metadata=doc("Of these, those without a result.", 0))
    counts = fields.Dict(
        keys=fields.String(),
        values=fields.Integer(),
        required=True,
        metadata=doc(
            "Messages with a result, by status.", {str(status): 0 for status in STORED_STATUSES} | {"delivered": 3}
        ),
    )
    held_by = fields.String(
        required=True,
        allow_none=True,
        metadata=doc(
            "What holds it, or held it when it ended; null if nothing does or did.", enum=[*get_args(HeldBy), None]
        ),
    )
    held_reason = fields.String(
        required=True, allow_none=True, metadata=doc("Why it is held, or was when it ended; null if it is or was not.")
    )
    send_at = fields.Timestamp(required=True, allow_none=True, metadata=doc("When it is due; null means at once."))
    expires_at = fields.Timestamp(required=True, metadata=doc("When unsent messages expire.", EXPIRES_AT))
    created_at = fields.Timestamp(required=True, metadata=doc("When it was accepted.", "2026-03-02T09:00:00.120Z"))
    completed_at = fields.Timestamp(
        required=True, allow_none=True, metadata=doc("When it completed; null while it is open.")
    )


class SendDetailsResponse(OperatorSendResponse):
    """A send of an account with all of its counts, without its text."""

    api_key = fields.String(required=True, attribute="api_key_id", metadata=doc("The API key that made it.", API_KEY))
    encoding = fields.String(required=True, metadata=doc("The encoding of its text.", "gsm7"))
    segments = fields.Integer(required=True, metadata=doc("Segments of one message.", 1))
    price = fields.Integer(required=True, metadata=doc("Credits for one message.", 1))
    reference = fields.String(required=True, allow_none=True, metadata=doc("The account's own reference."))
    group_id = fields.UUID(required=True, allow_none=True, metadata=doc("The group; null without one."))
    carrier = fields.String(
        required=True, allow_none=True, metadata=doc("The only carrier that it may use; null means any.")
    )
    rate = fields.Integer(required=True, allow_none=True, metadata=doc("Its own rate in segments per second."))
    submitted = fields.Integer(required=True, metadata=doc("Recipients in the request, whether accepted or not.", 5))
    duplicate = fields.Integer(required=True, metadata=doc("Of these, repeated ones.", 1))
    invalid = fields.Integer(required=True, metadata=doc("Of these, invalid ones.", 1))
    suppressed = fields.Integer(
        required=True,
        metadata=doc("Of these, those that opted out, are in a destination not allowed, or are over their limit.", 0),
    )
    removed = fields.Integer(required=True, metadata=doc("Contacts that left the group before their turn.", 0))
    resent = fields.Integer(required=True, metadata=doc("Messages that were sent again while in doubt.", 0))
    unexpanded = fields.Integer(required=True, metadata=doc("Contacts of a group without a batch yet.", 0))
    open_batches = fields.Integer(required=True, metadata=doc("Batches that have not ended.", 0))
    batches = fields.Dict(
        keys=fields.String(),
        values=fields.Integer(),
        required=True,
        metadata=doc("Number of batches by their state.", {"done": 1}),
    )
