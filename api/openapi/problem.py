"""The error response in the OpenAPI document."""

from marshmallow import Schema

from api.accept.schemas import MAX_PHONES
from api.resources.sms.responses import EncodingResponse, RejectedResponse
from api.schemas import fields
from api.schemas.examples import NOT_A_PHONE
from api.schemas.fields import doc


class FieldErrorResponse(Schema):
    """An invalid field."""

    pointer = fields.String(
        required=True,
        metadata=doc("The field, as a JSON pointer (RFC 6901); also for a query parameter or header.", "/phone"),
    )
    code = fields.String(required=True, metadata=doc("What is wrong with the field.", "invalid_phone"))
    detail = fields.String(required=True, metadata=doc("Human-readable explanation of this occurrence.", NOT_A_PHONE))
    suggestion = fields.String(metadata=doc("The value that was probably meant.", "254712000000"))


class ErrorResponse(Schema):
    """Problem details (RFC 9457), with additional members for some errors."""

    type = fields.String(required=True, metadata=doc("URL that explains the error.", "/api/v1/errors/low_balance"))
    title = fields.String(required=True, metadata=doc("Human-readable summary.", "Low balance"))
    status = fields.Integer(required=True, metadata=doc("The HTTP status.", 402))
    detail = fields.String(required=True, metadata=doc("Human-readable explanation of this occurrence.", NOT_A_PHONE))
    instance = fields.String(required=True, metadata=doc("The path of the request.", "/api/v1/sms/send"))
    code = fields.String(required=True, metadata=doc("Machine-readable code.", "low_balance"))
    request_id = fields.String(
        required=True,
        metadata=doc("The request's id, also in X-Request-Id. Quote it to the operator.", "req_5b0a8e6f1d2c3b4a"),
    )
    retryable = fields.Boolean(required=True, metadata=doc("Whether the same request may succeed later.", False))
    remediation = fields.String(
        required=True, metadata=doc("What to do about it.", "Top up, or send to fewer recipients.")
    )
    errors = fields.List(
        fields.Nested(FieldErrorResponse),
        metadata=doc("For `validation_failed`: the invalid fields, at most 100."),
    )
    errors_total = fields.Integer(metadata=doc("For `validation_failed`: number of all errors.", 1))
    rejected = fields.List(
        fields.Nested(RejectedResponse),
        metadata=doc("For `no_valid_recipients` and `no_valid_contacts`: the rejected entries, at most 100."),
    )
    encoding = fields.Nested(
        EncodingResponse, metadata=doc("For `unicode_rejected`: the characters that are not in GSM-7.")
    )
    required = fields.Integer(
        metadata=doc("For `low_balance`, `spend_limit_reached` and `quote_changed`: credits needed.", 240)
    )
    balance = fields.Integer(metadata=doc("For `low_balance`: credits left to spend.", 112))
    max = fields.Integer(metadata=doc("For `too_many_recipients`: maximum recipients of a request.", MAX_PHONES))
    submitted = fields.Integer(metadata=doc("For `too_many_recipients`: recipients in the request.", MAX_PHONES + 1))
    quoted = fields.Integer(metadata=doc("For `quote_changed`: credits quoted.", 2))
    segments = fields.Integer(metadata=doc("For `too_many_segments`: segments of the message.", 3))
    max_segments = fields.Integer(metadata=doc("For `too_many_segments`: the request's `max_segments`.", 2))
    spend_limit = fields.Integer(metadata=doc("For `spend_limit_reached`: credits allowed in the period.", 1000))
    spent = fields.Integer(metadata=doc("For `spend_limit_reached`: credits reserved in the period so far.", 900))
    period = fields.String(
        metadata=doc("For `spend_limit_reached`: the period of the limit.", "day", enum=["day", "month"])
    )
    resets_at = fields.Timestamp(
        metadata=doc("For `spend_limit_reached`: when the period ends.", "2026-03-03T00:00:00.000Z")
    )
    rule = fields.String(
        metadata=doc("For `traffic_refused`: the rule that was violated.", "block", enum=["block", "burst"])
    )
    prefix = fields.String(metadata=doc("For `traffic_refused`: the common prefix of the phone numbers.", "254711000"))
    phones = fields.Integer(metadata=doc("For `traffic_refused`: number of these phone numbers in the window.", 11))
    most = fields.Integer(metadata=doc("For `traffic_refused`: the usual maximum of such phone numbers.", 10))
    window_seconds = fields.Integer(metadata=doc("For `traffic_refused`: length of the window.", 600))
    sender_status = fields.String(
        metadata=doc("For `sender_not_approved` and `state_conflict`: the sender ID's status.", "pending")
    )
    scope = fields.String(metadata=doc("For `insufficient_scope`: the scope that is missing.", "sms:send"))
    send_status = fields.String(metadata=doc("For `state_conflict`: the send's current status.", "completed"))
