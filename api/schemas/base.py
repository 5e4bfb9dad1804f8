"""The bases of schemas: of requests, which are loaded, and of responses, which are only dumped."""

from functools import lru_cache
from itertools import islice
from typing import Any, ClassVar

from marshmallow import RAISE, Schema, ValidationError, fields, missing, validates_schema

from api.problems import MAX_ERRORS
from api.schemas.errors import UNKNOWN_FIELD, coded, fail
from api.schemas.fields import Coded


class Response(Schema):
    """A response's body. Each of its fields is always there, unless it says `required=False`."""

    def on_bind_field(self, field_name: str, field_obj: fields.Field[Any]) -> None:
        """Say so in the OpenAPI document."""
        field_obj.required = not (isinstance(field_obj, Coded) and field_obj.can_be_absent)


class Request(Schema):
    """A request's body or query. An unknown field is an error that names the most similar known field."""

    class Meta:
        unknown = RAISE

    error_messages = {  # noqa: RUF012 - as Marshmallow declares it
        "unknown": coded(UNKNOWN_FIELD, ""),
        "type": coded("wrong_type", "Use an object, in braces, as /reference shows it."),
    }
    independent: ClassVar[frozenset[str]] = frozenset()
    """Fields that no `validates` and no `validates_schema` method checks if no other fields are given."""

    def load(self, data: Any, **options: Any) -> Any:
        """Load as Marshmallow does, but skip absent optional fields, which would take as long as present ones.

        If all given fields are valid and `independent`, only the fields' own checks run. Raises ValidationError.
        """
        if isinstance(data, dict) and len(data) > len(self.fields) + MAX_ERRORS:
            known = {field.data_key or name for name, field in self.load_fields.items()}
            unknown = islice((name for name in data if name not in known), MAX_ERRORS)
            raise ValidationError({name: coded(UNKNOWN_FIELD, "") for name in unknown})
        if options or not isinstance(data, dict) or not data.keys() <= self.fields.keys():
            return super().load(data, **options)
        schema, defaults, independent = _narrowed(type(self), frozenset(data))
        if independent and None not in data.values():
            try:
                return {
                    **defaults,
                    **{name: field.load_present(data[name], name, data) for name, field in independent},
                }
            except ValidationError:
                pass  # the slow path below collects all errors
        return {**defaults, **Schema.load(schema, data)}


class Changes(Request):
    """Changes of something; what is not given stays. At least one must be given."""

    changes_nothing: ClassVar[frozenset[str]] = frozenset({"reason"})
    """Fields that are no change by themselves."""

    @validates_schema
    def not_empty(self, data: dict[str, Any], **_: Any) -> None:
        """Without a change, the request is most likely a mistake."""
        changes = [name for name in self.declared_fields if name not in self.changes_nothing]
        if not data.keys() & changes:
            raise fail("required", f"Provide at least one of {', '.join(f'`{name}`' for name in changes)}.")


@lru_cache(500)
def _narrowed(kind: type[Request], given: frozenset[str]) -> tuple[Request, dict[str, Any], list[tuple[str, Coded]]]:
    """For an object with these keys: a schema, the defaults of absent fields, and the fields if all are independent."""
    whole = kind()
    if any(field.data_key for field in whole.fields.values()):
        return whole, {}, []
    needed = [
        name for name, field in whole.fields.items() if name in given or field.required or callable(field.load_default)
    ]
    absent = {name: field.load_default for name, field in whole.fields.items() if name not in needed}
    defaults = {name: value for name, value in absent.items() if value is not missing}
    narrowed = kind(only=needed)
    independent = given == set(needed) and given <= kind.independent
    coded_fields = [(name, field) for name, field in narrowed.fields.items() if isinstance(field, Coded)]
    return narrowed, defaults, coded_fields if independent else []
