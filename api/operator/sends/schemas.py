"""Schemas of sends."""

from typing import get_args

from api.operator.fields import ACCOUNT_ID, AccountPaging
from api.schemas import fields
from api.schemas.base import Response
from api.schemas.examples import API_KEY, EXPIRES_AT, SEND_ID
from shared.lifecycle import STORED_STATUSES, SendState
from shared.sends.holding import HeldBy


class OperatorSendPaging(AccountPaging):
    """Paging through sends."""

    open = fields.QueryBoolean("Only sends that have not completed.", True, load_default=False)
    status = fields.Enum(SendState, "Only sends with this status.", "held")


class OperatorSendResponse(Response):
    """A send of an account, without its text."""

    send_id = fields.UUID("The send.", SEND_ID, attribute="id")
    account_id = fields.Integer("The account.", ACCOUNT_ID)
    account = fields.String("Its name.", "acme")
    status = fields.String("Where it is.", "sending", attribute="state", one_of=SendState)
    kind = fields.String("To one phone number, a list or a group.", "bulk", one_of=["single", "bulk", "group"])
    test = fields.Boolean("Whether it is of a test key, for the simulated carrier.", False)
    sender_id = fields.String("The sender ID.", "ACME")
    category = fields.String("The category.", "transactional")
    accepted = fields.Integer("Messages.", 3)
    waiting = fields.Integer("Of these, those without a result.", 0)
    counts = fields.Counts(
        "Messages with a result, by status.", {str(status): 0 for status in STORED_STATUSES} | {"delivered": 3}
    )
    held_by = fields.String(
        "What holds it, or held it when it ended; null if nothing does or did.",
        allow_none=True,
        one_of=[*get_args(HeldBy), None],
    )
    held_reason = fields.String("Why it is held, or was when it ended; null if it is or was not.", allow_none=True)
    send_at = fields.Timestamp("When it is due; null means at once.", allow_none=True)
    expires_at = fields.Timestamp("When unsent messages expire.", EXPIRES_AT)
    created_at = fields.Timestamp("When it was accepted.", "2026-03-02T09:00:00.120Z")
    completed_at = fields.Timestamp("When it completed; null while it is open.", allow_none=True)


class SendDetailsResponse(OperatorSendResponse):
    """A send of an account with all of its counts, without its text."""

    api_key = fields.String("The API key that made it.", API_KEY, attribute="api_key_id")
    encoding = fields.String("The encoding of its text.", "gsm7")
    segments = fields.Integer("Segments of one message.", 1)
    price = fields.Integer("Credits for one message.", 1)
    reference = fields.String("The account's own reference.", allow_none=True)
    group_id = fields.UUID("The group; null without one.", allow_none=True)
    carrier = fields.String("The only carrier that it may use; null means any.", allow_none=True)
    rate = fields.Integer("Its own rate in segments per second.", allow_none=True)
    submitted = fields.Integer("Recipients in the request, whether accepted or not.", 5)
    duplicate = fields.Integer("Of these, repeated ones.", 1)
    invalid = fields.Integer("Of these, invalid ones.", 1)
    suppressed = fields.Integer(
        "Of these, those that opted out, are in a destination not allowed, or are over their limit.", 0
    )
    removed = fields.Integer("Contacts that left the group before their turn.", 0)
    resent = fields.Integer("Messages that were sent again while in doubt.", 0)
    unexpanded = fields.Integer("Contacts of a group without a batch yet.", 0)
    open_batches = fields.Integer("Batches that have not ended.", 0)
    batches = fields.Counts("Number of batches by their state.", {"done": 1})
