"""Imports, as answers."""

from marshmallow import Schema, fields


class ImportCountsAnswer(Schema):
    """What became of the rows so far."""

    rows = fields.Integer(required=True)
    added = fields.Integer(required=True)
    changed = fields.Integer(required=True)
    unchanged = fields.Integer(required=True)
    invalid = fields.Integer(required=True)


class ImportAnswer(Schema):
    """A file of contacts on its way into a group."""

    import_id = fields.UUID(required=True)
    group_id = fields.UUID(required=True)
    status = fields.String(required=True)
    country = fields.String(required=True, allow_none=True)
    bytes = fields.Integer(required=True)
    bytes_done = fields.Integer(required=True)
    counts = fields.Nested(ImportCountsAnswer, required=True)
    error = fields.String(required=True, allow_none=True)
    errors_url = fields.String(required=True)
    created_at = fields.String(required=True)
    finished_at = fields.String(required=True, allow_none=True)


class ImportErrorAnswer(Schema):
    """A row that is no contact."""

    line = fields.Integer(required=True)
    value = fields.String(required=True)
    code = fields.String(required=True)
    detail = fields.String(required=True)
