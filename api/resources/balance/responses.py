"""The account and what it has, as answers."""

from marshmallow import Schema, fields


class BalanceAnswer(Schema):
    """What can be spent, and what is reserved."""

    balance = fields.Integer(required=True)
    reserved = fields.Integer(required=True)
    unit = fields.String(required=True)
    low_balance_threshold = fields.Integer(required=True)
    updated_at = fields.String(required=True)


class TransactionAnswer(Schema):
    """A row of the ledger."""

    id = fields.Integer(required=True)
    kind = fields.String(required=True)
    amount = fields.Integer(required=True)
    debit = fields.String(required=True)
    credit = fields.String(required=True)
    send_id = fields.UUID(required=True, allow_none=True)
    batch_id = fields.UUID(required=True, allow_none=True)
    message_id = fields.UUID(required=True, allow_none=True)
    reason = fields.String(required=True, allow_none=True)
    created_at = fields.String(required=True)


class RefillAnswer(Schema):
    """The play credits of a sandbox, and how many were added."""

    added = fields.Integer(required=True)
    balance = fields.Integer(required=True)
    reserved = fields.Integer(required=True)


class SpendingAnswer(Schema):
    """What the account's sends may reserve, and what they have reserved, where that is limited."""

    day = fields.Integer(required=True, allow_none=True)
    month = fields.Integer(required=True, allow_none=True)
    spent_of_day = fields.Integer(required=True)
    spent_of_month = fields.Integer(required=True)


class RecipientLimitsAnswer(Schema):
    """Messages of each category that a phone may get within an hour."""

    authentication = fields.Integer(required=True, allow_none=True)
    transactional = fields.Integer(required=True, allow_none=True)
    marketing = fields.Integer(required=True, allow_none=True)


class LimitsAnswer(Schema):
    """What the service takes at most, and the account's backlog."""

    message_characters = fields.Integer(required=True)
    phones_per_request = fields.Integer(required=True)
    body_bytes = fields.Integer(required=True)
    bulk_body_bytes = fields.Integer(required=True)
    schedule_days_ahead = fields.Integer(required=True)
    metadata_bytes = fields.Integer(required=True)
    token_seconds = fields.Integer(required=True)
    requests_per_second = fields.Integer(required=True)
    page_items = fields.Integer(required=True)
    header_bytes = fields.Integer(required=True)
    head_bytes = fields.Integer(required=True)
    json_keys = fields.Integer(required=True)
    json_values = fields.Integer(required=True)
    json_depth = fields.Integer(required=True)
    requests_under_way = fields.Integer(required=True)
    large_bodies_under_way = fields.Integer(required=True)
    exports_under_way = fields.Integer(required=True)
    page_rows_examined = fields.Integer(required=True)
    page_seconds = fields.Integer(required=True)
    body_bytes_per_second = fields.Integer(required=True)
    revoked_tokens_per_key = fields.Integer(required=True)
    groups = fields.Integer(required=True)
    idempotency_days = fields.Integer(required=True)
    backlog_messages = fields.Integer(required=True)
    backlog_limited_by = fields.String(required=True, allow_none=True)
    backlog_eta = fields.String(required=True, allow_none=True)
    spending = fields.Nested(SpendingAnswer, required=True)
    destinations = fields.List(fields.String(), required=True, allow_none=True)
    pumping_guard = fields.String(required=True)
    messages_per_phone_hour = fields.Nested(RecipientLimitsAnswer, required=True)
