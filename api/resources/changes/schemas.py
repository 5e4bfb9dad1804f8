"""Schema of the audit log."""

from api.schemas import fields
from api.schemas.base import Response
from api.schemas.examples import API_KEY
from api.schemas.people import PERSON_ID


class ChangeResponse(Response):
    """A change of rights, money or settings of the account."""

    change_id = fields.Integer("The change; ids rise.", 4711)
    action = fields.String("The type of the object and of the change, with a dot.", "key.created")
    actor = fields.String("Who did it: `person` or `key` with its id, `operator` or `worker`.", f"person {PERSON_ID}")
    actor_name = fields.String("The name of a person of the account; null otherwise.", "Ann Otieno", allow_none=True)
    subject = fields.String("The id of the object.", API_KEY, allow_none=True)
    before = fields.Raw("The values before.", {"role": "viewer"}, allow_none=True)
    after = fields.Raw("The values after.", {"role": "sender"}, allow_none=True)
    reason = fields.String("Why, if a reason was given.", allow_none=True)
    address = fields.String("The address of the request; null for operators.", "198.51.100.7", allow_none=True)
    request_id = fields.String("The request; null for operators.", "req_5b0a8e6f1d2c3b4a", allow_none=True)
    created_at = fields.Timestamp("When it was done.", "2026-03-02T09:00:00.120Z")
