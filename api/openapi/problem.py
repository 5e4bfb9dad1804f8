"""The error response in the OpenAPI document."""

from marshmallow import Schema

from api.accept.responses import EncodingResponse, RejectedResponse
from api.accept.schemas import MAX_PHONES
from api.schemas import fields
from api.schemas.examples import NOT_A_PHONE
from api.schemas.fields import doc


class FieldErrorResponse(Schema):
    """An invalid field."""

    pointer = fields.String(
        required=True,
        metadata=doc("The field, as a JSON pointer (RFC 6901); for a query parameter or header, its name.", "/phone"),
    )
    code = fields.String(required=True, metadata=doc("What is wrong with it.", "invalid_phone"))
    detail = fields.String(required=True, metadata=doc("Human-readable explanation of this occurrence.", NOT_A_PHONE))
    suggestion = fields.String(metadata=doc("What was probably meant.", "254712000000"))


class ErrorResponse(Schema):
    """RFC 9457 problem details, with additional members of some errors."""

    type = fields.String(required=True, metadata=doc("URL that explains the error.", "/api/v1/errors/low_balance"))
    title = fields.String(required=True, metadata=doc("Human-readable summary.", "Low balance"))
    status = fields.Integer(required=True, metadata=doc("The HTTP status.", 402))
    detail = fields.String(required=True, metadata=doc("Human-readable explanation of this occurrence.", NOT_A_PHONE))
    instance = fields.String(required=True, metadata=doc("The path of the request.", "/api/v1/sms/send"))
    code = fields.String(required=True, metadata=doc("Machine-readable code.", "low_balance"))
    request_id = fields.String(
        required=True,
        metadata=doc("Also in X-Request-Id. Quote it when you contact the operator.", "req_5b0a8e6f1d2c3b4a"),
    )
    retryable = fields.Boolean(required=True, metadata=doc("Whether the same request may succeed later.", False))
    remediation = fields.String(
        required=True, metadata=doc("What to do about it.", "Top up, or send to fewer recipients.")
    )
    errors = fields.List(
        fields.Nested(FieldErrorResponse),
        metadata=doc("Of `validation_failed`: every field that is wrong, 100 at most."),
    )
    errors_total = fields.Integer(metadata=doc("Of `validation_failed`: how many errors there are.", 1))
    rejected = fields.List(
        fields.Nested(RejectedResponse),
        metadata=doc("Of `no_valid_recipients` and `no_valid_contacts`: why each one is not valid, 100 at most."),
    )
    encoding = fields.Nested(
        EncodingResponse, metadata=doc("Of `unicode_rejected`: which characters are not in GSM-7.")
    )
    required = fields.Integer(metadata=doc("Of `low_balance`: credits that it needs.", 240))
    balance = fields.Integer(metadata=doc("Of `low_balance`: credits that are left.", 112))
    max = fields.Integer(metadata=doc("Of `too_many_recipients`: how many are taken.", MAX_PHONES))
    submitted = fields.Integer(metadata=doc("Of `too_many_recipients`: how many were given.", MAX_PHONES + 1))
    quoted = fields.Integer(metadata=doc("Of `quote_changed`: credits that the quote said.", 2))
    segments = fields.Integer(metadata=doc("Of `too_many_segments`: how many the message takes.", 3))
    max_segments = fields.Integer(metadata=doc("Of `too_many_segments`: how many it may take.", 2))
    spend_limit = fields.Integer(
        metadata=doc("Of `spend_limit_reached`: credits that may be reserved in the period.", 1000)
    )
    spent = fields.Integer(metadata=doc("Of `spend_limit_reached`: credits that were.", 900))
    period = fields.String(metadata=doc("Of `spend_limit_reached`: which limit.", "day", enum=["day", "month"]))
    resets_at = fields.Timestamp(
        metadata=doc("Of `spend_limit_reached`: when the period ends.", "2026-03-03T00:00:00.000Z")
    )
    rule = fields.String(metadata=doc("Of `traffic_refused`: what was unusual.", "block", enum=["block", "burst"]))
    prefix = fields.String(metadata=doc("Of `traffic_refused`: what the phones begin with.", "254711000"))
    phones = fields.Integer(metadata=doc("Of `traffic_refused`: how many there were in the window.", 11))
    most = fields.Integer(metadata=doc("Of `traffic_refused`: how many are usual.", 10))
    window_seconds = fields.Integer(metadata=doc("Of `traffic_refused`: how long the window is.", 600))
    sender_status = fields.String(metadata=doc("Of `sender_not_approved`: where it stands.", "pending"))
    scope = fields.String(metadata=doc("Of `insufficient_scope`: what the token lacks.", "sms:send"))
    send_status = fields.String(
        metadata=doc("Of `state_conflict`: the status in which it is not possible.", "completed")
    )
