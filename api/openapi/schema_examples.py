"""Examples of whole objects, composed of the examples of their fields."""

from typing import Any

from marshmallow import Schema, fields

from api.schemas.fields import Timestamp


def example_of(schema: Schema, *, options: bool = False) -> dict[str, Any]:
    """An example with the required fields or, with `options`, with all fields but times and flags."""
    return {
        field.data_key or name: _value(field)
        for name, field in schema.fields.items()
        if field.required or (options and not isinstance(field, (Timestamp, fields.Boolean)))
    }


def _value(field: Any) -> Any:
    if "example" in field.metadata:
        return field.metadata["example"]
    if isinstance(field, fields.Nested):
        return example_of(field.schema)
    if isinstance(field, fields.List):
        return [_value(field.inner)]
    return None
