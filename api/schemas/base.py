"""What requests are made of: the fields, and what is said of a wrong one."""

from collections.abc import Callable
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, ClassVar
from uuid import UUID

from marshmallow import RAISE, Schema, ValidationError, fields, missing, validate

from api.http.spelling import MOST_COMPARED, nearest_name
from shared.sms.phones import invalid_detail, is_phone, suggest
from shared.sms.segments import text_problem

AN_ID = "an id as the API gives it: a UUID, such as 019cad1e-3f78-7c3e-9b5f-2e61d08fa4b7"

IN_RANGE = "Give a number from {min} to {max}."
PHONE_PATTERN = "^[1-9][0-9]{7,14}$"
LONGEST_REFERENCE = 255
CURSOR_PATTERN = "^[A-Za-z0-9_-]+$"
"""What the OpenAPI document says of a phone and of a cursor, as JSON Schema writes it (ECMA 262)."""


class Request(Schema):
    """A request's body. An unknown field is an error, and the error names the nearest known one."""

    class Meta:
        unknown = RAISE
        ordered = True

    error_messages = {"unknown": "unknown_field", "type": "Not a valid object."}  # noqa: RUF012
    by_themselves: ClassVar[frozenset[str]] = frozenset()
    """Fields that nothing but themselves is asked about: neither `validates` nor `validates_schema` looks at them."""

    def load(self, data: Any, **options: Any) -> Any:
        """As Marshmallow loads it, but what is absent is not looked at: it would take as long as what is there.

        Where all that is there are fields `by_themselves`, and right, they are all that is asked.
        """
        if options or not isinstance(data, dict) or not data.keys() <= self.fields.keys():
            return super().load(data, **options)
        schema, defaults, asked = _narrowed(type(self), frozenset(data))
        if asked and None not in data.values():
            try:
                return {**defaults, **{name: _asked(name, data, *asked[name]) for name in data}}
            except ValidationError:
                pass  # all errors are told together
        return {**defaults, **Schema.load(schema, data)}


Asked = tuple[Callable[..., Any], list[Callable[[Any], Any]]]
"""How a field reads a value that is there, and what is asked about it then."""


@lru_cache(500)
def _narrowed(kind: type[Request], given: frozenset[str]) -> tuple[Request, dict[str, Any], dict[str, Asked]]:
    """A schema for an object with these keys, what its absent fields are, and its fields if only they are asked."""
    whole = kind()
    if any(field.data_key for field in whole.fields.values()):
        return whole, {}, {}
    looked_at = [
        name for name, field in whole.fields.items() if name in given or field.required or callable(field.load_default)
    ]
    absent = {name: field.load_default for name, field in whole.fields.items() if name not in looked_at}
    defaults = {name: value for name, value in absent.items() if value is not missing}
    narrowed = kind(only=looked_at)
    if given != set(looked_at) or not given <= kind.by_themselves:
        return narrowed, defaults, {}
    return narrowed, defaults, {name: (field._deserialize, field.validators) for name, field in narrowed.fields.items()}


def _asked(name: str, data: dict[str, Any], read: Callable[..., Any], checks: list[Callable[[Any], Any]]) -> Any:
    """What Marshmallow's `deserialize` comes to for a value that is there. Raises ValidationError."""
    value = read(data[name], name, data)
    for check in checks:
        check(value)
    return value


def errors_of(schema: Schema, error: ValidationError) -> list[dict[str, str]]:
    """A ValidationError as pointers, codes and details, in the order of the schema's fields."""
    found: list[dict[str, str]] = []
    _flatten(schema, error.messages, "", found)
    return found


SAID = {
    "Missing data for required field.": ("required", "Add this field: it is required."),
    "Field may not be null.": ("required", "Give a value: null is none."),
    "Not a valid string.": ("wrong_type", "Give a text, in double quotes."),
    "Not a valid integer.": ("wrong_type", "Give a whole number, such as 10, without quotes."),
    "Number too large.": ("invalid", "Give a smaller number."),
    "Not a valid boolean.": ("wrong_type", "Give true or false, without quotes."),
    "Not a valid mapping type.": ("wrong_type", 'Give an object, such as {"order": "A-1042"}.'),
    "Not a valid object.": ("wrong_type", "Give an object, in braces, as /docs shows it."),
    "Not a valid list.": ("wrong_type", 'Give a list, such as ["254711000000"].'),
    "Not a valid UUID.": ("invalid_uuid", f"Give {AN_ID}."),
    "Not a valid date.": ("invalid_time", "Give a day that there is, such as 2026-03-02."),
    "Not a valid datetime.": ("invalid_time", "Give a time in RFC 3339, such as 2026-03-02T09:00:00Z."),
}
"""What marshmallow says of a value: our code for it, and what to do about it."""


def _flatten(schema: Schema, messages: Any, pointer: str, found: list[dict[str, str]]) -> None:
    if isinstance(messages, dict) and isinstance(messages.get("code"), str):
        found.append({"pointer": pointer, **messages})
    elif isinstance(messages, dict):
        for key, inner in messages.items():
            name = "" if key == "_schema" else "/" + str(key).replace("~", "~0").replace("/", "~1")
            _flatten(schema, inner, pointer + name, found)
    elif isinstance(messages, list):
        for inner in messages:
            _flatten(schema, inner, pointer, found)
    elif messages == "unknown_field":
        name = pointer.rpartition("/")[2]
        nearest = nearest_name(name, schema.load_fields) if len(found) < MOST_COMPARED else None
        hint = f" Did you mean `{nearest}`?" if nearest else f" Known fields: {', '.join(schema.load_fields)}."
        found.append({"pointer": pointer[:200], "code": "unknown_field", "detail": f"There is no such field.{hint}"})
    else:
        code, detail = SAID.get(messages, ("invalid", str(messages)))
        found.append({"pointer": pointer, "code": code, "detail": detail})


def fail(code: str, detail: str, **more: str) -> ValidationError:
    """A validation error with a code of its own, and whatever else an error may have."""
    return ValidationError({"code": code, "detail": detail, **more})


class Text(fields.String):
    """The message: 1 to 1,600 code points, not blank."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        message = super()._deserialize(value, attr, data, **kwargs)
        problem = text_problem(message)
        if problem is not None:
            raise fail(*problem)
        return message


class Phone(fields.String):
    """A phone: digits only. A wrong one comes with a suggestion where its form is all that is wrong."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        phone = super()._deserialize(value, attr, data, **kwargs)
        if not is_phone(phone):
            suggestion = suggest(phone)
            raise fail("invalid_phone", invalid_detail(phone), **({"suggestion": suggestion} if suggestion else {}))
        return phone


class CanonicalUUID(fields.Field[UUID]):
    """A UUID in its canonical form: 36 characters, in capitals or small letters, nothing around it."""

    default_error_messages = {"invalid_uuid": "Not a valid UUID."}  # noqa: RUF012

    def _serialize(self, value: Any, attr: str | None, obj: Any, **kwargs: Any) -> str | None:
        return None if value is None else str(value)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> UUID:
        try:
            parsed = UUID(value)
        except (ValueError, AttributeError, TypeError):
            raise self.make_error("invalid_uuid") from None
        if str(parsed) != value.lower():
            raise self.make_error("invalid_uuid")
        return parsed


class Moment(fields.DateTime):
    """A time in RFC 3339 with its offset; answered in UTC with `Z`."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> datetime:
        if not isinstance(value, str) or "T" not in value:
            raise self.make_error("invalid", input=value, obj_type="datetime")
        try:
            moment = datetime.fromisoformat(value)
            if moment.tzinfo is None:
                raise fail("invalid_time", "Say the offset: for UTC, end with `Z`.")
            return moment.astimezone(UTC)
        except (ValueError, OverflowError):
            raise self.make_error("invalid", input=value, obj_type="datetime") from None


class Country(fields.String):
    """A country: the two letters of ISO 3166-1, in capitals."""

    def __init__(self, **options: Any) -> None:
        says = "Give the two capital letters of ISO 3166-1, such as KE."
        super().__init__(
            validate=validate.Regexp("[A-Z]{2}\\Z", error=says), metadata={"pattern": "^[A-Z]{2}$"}, **options
        )


class Whole(fields.Integer):
    """A whole number. 14.0 is one, as in JSON Schema; a text and a boolean are none."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> int:
        if type(value) is int or (isinstance(value, float) and value.is_integer()):
            return int(value)
        raise self.make_error("invalid", input=value)


class Flag(fields.Boolean):
    """True or false, and nothing that only equals them, as 1 does."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> bool:
        if not isinstance(value, bool):
            raise self.make_error("invalid", input=value)
        return value


class Phones(fields.Field[list[object]]):
    """The recipients, as given; each one is checked later, all at once."""

    default_error_messages = {"invalid": "Not a valid list."}  # noqa: RUF012

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> list[object]:
        if not isinstance(value, list):
            raise self.make_error("invalid")
        if not value:
            raise fail("required", "Name at least one recipient.")
        return value
