"""The error response in the OpenAPI document."""

from api.accept.schemas import MAX_PHONES
from api.resources.sms.responses import EncodingResponse, RejectedResponse
from api.schemas import fields
from api.schemas.base import Response
from api.schemas.examples import NOT_A_PHONE, VERIFICATION_ID


class FieldErrorResponse(Response):
    """An invalid field."""

    pointer = fields.String("The field, as a JSON pointer (RFC 6901); also for a query parameter or header.", "/phone")
    code = fields.String("What is wrong with the field.", "invalid_phone")
    detail = fields.String("Human-readable explanation of this occurrence.", NOT_A_PHONE)
    suggestion = fields.String("The value that was probably meant.", "254712000000", required=False)


class ErrorResponse(Response):
    """Problem details (RFC 9457), with additional members for some errors."""

    type = fields.String("URL that explains the error.", "/api/v1/errors/low_balance")
    title = fields.String("Human-readable summary.", "Low balance")
    status = fields.Integer("The HTTP status.", 402)
    detail = fields.String("Human-readable explanation of this occurrence.", NOT_A_PHONE)
    instance = fields.String("The path of the request.", "/api/v1/sms/send")
    code = fields.String("Machine-readable code.", "low_balance")
    request_id = fields.String(
        "The request's id, also in X-Request-Id. Quote it to the operator.", "req_5b0a8e6f1d2c3b4a"
    )
    retryable = fields.Boolean("Whether the same request may succeed later.", False)
    remediation = fields.String("What to do about it.", "Top up, or send to fewer recipients.")
    errors = fields.List(
        fields.Nested(FieldErrorResponse), "For `validation_failed`: the invalid fields, at most 100.", required=False
    )
    errors_total = fields.Integer("For `validation_failed`: number of all errors.", 1, required=False)
    rejected = fields.List(
        fields.Nested(RejectedResponse),
        "For `no_valid_recipients` and `no_valid_contacts`: the rejected entries, at most 100.",
        required=False,
    )
    encoding = fields.Nested(
        EncodingResponse, "For `unicode_rejected`: the characters that are not in GSM-7.", required=False
    )
    required = fields.Integer(
        "For `low_balance`, `spend_limit_reached` and `quote_changed`: credits needed.", 240, required=False
    )
    balance = fields.Integer("For `low_balance`: credits left to spend.", 112, required=False)
    max = fields.Integer("For `too_many_recipients`: maximum recipients of a request.", MAX_PHONES, required=False)
    submitted = fields.Integer("For `too_many_recipients`: recipients in the request.", MAX_PHONES + 1, required=False)
    quoted = fields.Integer("For `quote_changed`: credits quoted.", 2, required=False)
    segments = fields.Integer("For `too_many_segments`: segments of the message.", 3, required=False)
    max_segments = fields.Integer("For `too_many_segments`: the request's `max_segments`.", 2, required=False)
    spend_limit = fields.Integer("For `spend_limit_reached`: credits allowed in the period.", 1000, required=False)
    spent = fields.Integer("For `spend_limit_reached`: credits reserved in the period so far.", 900, required=False)
    period = fields.String(
        "For `spend_limit_reached`: the period of the limit.", "day", required=False, one_of=["day", "month"]
    )
    resets_at = fields.Timestamp(
        "For `spend_limit_reached`: when the period ends.", "2026-03-03T00:00:00.000Z", required=False
    )
    rule = fields.String(
        "For `traffic_refused`: the rule that was violated.",
        "block",
        required=False,
        one_of=["block", "burst", "unused"],
    )
    prefix = fields.String(
        "For `traffic_refused`: the common prefix of the phone numbers.", "254711000", required=False
    )
    phones = fields.Integer("For `traffic_refused`: number of these phone numbers in the window.", 11, required=False)
    most = fields.Integer("For `traffic_refused`: the usual maximum of such phone numbers.", 10, required=False)
    window_seconds = fields.Integer("For `traffic_refused`: length of the window.", 600, required=False)
    verification_id = fields.UUID("For `verification_limit`: the open verification.", VERIFICATION_ID, required=False)
    sender_status = fields.String(
        "For `sender_not_approved` and `state_conflict`: the sender ID's status.", "pending", required=False
    )
    scope = fields.String("For `insufficient_scope`: the scope that is missing.", "sms:send", required=False)
    message_status = fields.String("For `state_conflict`: the message's current status.", "sent", required=False)
    send_status = fields.String("For `state_conflict`: the send's current status.", "completed", required=False)
