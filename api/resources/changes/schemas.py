"""Schema of the audit log."""

from marshmallow import Schema

from api.schemas import fields
from api.schemas.examples import API_KEY
from api.schemas.fields import doc
from api.schemas.people import PERSON_ID


class ChangeResponse(Schema):
    """A change of rights, money or settings of the account."""

    change_id = fields.Integer(required=True, metadata=doc("The change; ids rise.", 4711))
    action = fields.String(
        required=True, metadata=doc("The type of the object and of the change, with a dot.", "key.created")
    )
    actor = fields.String(
        required=True,
        metadata=doc("Who did it: `person` or `key` with its id, `operator` or `worker`.", f"person {PERSON_ID}"),
    )
    actor_name = fields.String(
        required=True,
        allow_none=True,
        metadata=doc("The name of a person of the account; null otherwise.", "Ann Otieno"),
    )
    subject = fields.String(required=True, allow_none=True, metadata=doc("The id of the object.", API_KEY))
    before = fields.Raw(required=True, allow_none=True, metadata=doc("The values before.", {"role": "viewer"}))
    after = fields.Raw(required=True, allow_none=True, metadata=doc("The values after.", {"role": "sender"}))
    reason = fields.String(required=True, allow_none=True, metadata=doc("Why, if a reason was given."))
    address = fields.String(
        required=True, allow_none=True, metadata=doc("The address of the request; null for operators.", "198.51.100.7")
    )
    request_id = fields.String(
        required=True, allow_none=True, metadata=doc("The request; null for operators.", "req_5b0a8e6f1d2c3b4a")
    )
    created_at = fields.Timestamp(required=True, metadata=doc("When it was done.", "2026-03-02T09:00:00.120Z"))
