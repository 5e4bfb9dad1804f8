"""Webhooks, their deliveries and the stream of events, as answers."""

from marshmallow import Schema, fields


class WebhookAnswer(Schema):
    """Where events are posted."""

    webhook_id = fields.UUID(required=True)
    url = fields.String(required=True, allow_none=True)
    events = fields.List(fields.String(), required=True, allow_none=True)
    description = fields.String(required=True, allow_none=True)
    status = fields.String(required=True)
    disabled_reason = fields.String(required=True, allow_none=True)
    failing_since = fields.String(required=True, allow_none=True)
    secret_version = fields.Integer(required=True)
    previous_secret_until = fields.String(required=True, allow_none=True)
    created_at = fields.String(required=True)
    updated_at = fields.String(required=True)


class SecretAnswer(WebhookAnswer):
    """A webhook with its new secret, which is shown this once."""

    secret = fields.String(required=True)


class DeletedWebhookAnswer(Schema):
    """A webhook that is no more."""

    webhook_id = fields.UUID(required=True)
    deleted = fields.Boolean(required=True)


class TestAnswer(Schema):
    """An event that goes to this webhook only."""

    webhook_id = fields.UUID(required=True)
    event_id = fields.UUID(required=True)
    type = fields.String(required=True)


class RecoverAnswer(Schema):
    """Events are posted again from then on, but for those that were delivered."""

    webhook_id = fields.UUID(required=True)
    since = fields.String(required=True)


class DeliveryAnswer(Schema):
    """What became of posting one event to one webhook."""

    webhook_id = fields.UUID(required=True)
    event_id = fields.UUID(required=True)
    type = fields.String(required=True)
    status = fields.String(required=True)
    attempts = fields.Integer(required=True)
    next_attempt_at = fields.String(required=True, allow_none=True)
    url = fields.String(required=True)
    http_status = fields.Integer(required=True, allow_none=True)
    error = fields.String(required=True, allow_none=True)
    milliseconds = fields.Integer(required=True, allow_none=True)
    created_at = fields.String(required=True)
    updated_at = fields.String(required=True)


class StreamEventAnswer(Schema):
    """Something that happened; `type`, `timestamp` and `data` are what a webhook is posted."""

    event_id = fields.UUID(required=True)
    type = fields.String(required=True)
    timestamp = fields.String(required=True)
    data = fields.Dict(required=True)
