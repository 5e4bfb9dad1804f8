"""Fields of schemas: Marshmallow's with this API's error codes, and the API's own.

The OpenAPI document is generated from a field class's `json_schema`, which describes its type, and from what each field
says about its use in one schema: `fields.String("What it is.", an_example)`.
"""

import enum
import uuid
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, ClassVar

from marshmallow import Schema, fields, validate

from api.schemas.errors import coded, fail
from shared.events.webhook_urls import MAX_URL_LENGTH, url_problem
from shared.ids import rfc3339
from shared.sms.phones import PHONE, invalid_detail, suggest
from shared.sms.segments import text_problem

MAX_NAME_LENGTH = 100
"""Characters of the name of an account, a key, a group or a carrier."""
MAX_REFERENCE_LENGTH = 255
SENDER_ID_LENGTH = validate.Length(
    1, 15, error="A sender ID is a name of 1 to 11 characters or a number of 3 to 15 digits."
)
ID_FORM = "an id as the API returns it: a UUID, such as 019cad1e-3f78-7c3e-9b5f-2e61d08fa4b7"


KEYWORDS = ("format", "items", "maxLength", "minLength", "pattern")
"""Of JSON Schema: what a field may say besides its description and example."""


def between(least: float, most: float) -> validate.Range:
    """Check that a number is in a range, ends included."""
    return validate.Range(least, most, error="Use a number from {min} to {max}.")


def length(least: int, most: int) -> validate.Length:
    """Check the number of characters of a string."""
    return validate.Length(least, most, error="Use {min} to {max} characters.")


def timestamp(moment: datetime | None) -> str | None:
    """A time as the API writes it; None stays None."""
    return None if moment is None else rfc3339(moment)


class Coded(fields.Field[Any]):
    """Base of all fields: what the OpenAPI document says about them, and the error codes of missing and null values.

    `one_of` are all its values. `required=False` in a Response means that the field can be absent. Other options are
    those of Marshmallow, and KEYWORDS.
    """

    default_error_messages = {  # noqa: RUF012
        "required": coded("required", "This field is required."),
        "null": coded("required", "The value must not be null."),
    }

    def __init__(
        self,
        description: str = "",
        example: Any = None,
        *,
        one_of: Iterable[str | None] | None = None,
        required: bool | None = None,
        **options: Any,
    ) -> None:
        values = None if one_of is None else [each if each is None else str(each) for each in one_of]
        told = {"description": description or None, "example": example, "enum": values}
        metadata = {name: value for name, value in told.items() if value is not None}
        metadata |= {name: options.pop(name) for name in KEYWORDS if name in options}
        super().__init__(required=bool(required), metadata=metadata, **options)
        self.can_be_absent = required is False

    def load_present(self, value: Any, name: str, data: Any) -> Any:
        """Like `deserialize`, for a value that is present and not null, in half the time: it is on the hot path."""
        loaded = self._deserialize(value, name, data)
        for check in self.validators:
            check(loaded)
        return loaded


class String(Coded, fields.String):
    """A string."""

    default_error_messages = {"invalid": coded("wrong_type", "Use a string, in double quotes.")}  # noqa: RUF012


class Choice(String):
    """One of several strings."""

    def __init__(
        self,
        choices: Iterable[str],
        description: str = "",
        example: Any = None,
        *,
        error: str = "Use one of {choices}.",
        **options: Any,
    ) -> None:
        super().__init__(description, example, validate=validate.OneOf([*choices], error=error), **options)


class Integer(Coded, fields.Integer):
    """A whole number; in a query, written in digits."""

    default_error_messages = {  # noqa: RUF012
        "invalid": coded("wrong_type", "Use a whole number, such as 10, without quotes."),
        "too_large": coded("invalid", "Use a smaller number."),
    }


class WholeNumber(Integer):
    """A whole number. As in JSON Schema, 14.0 is one; strings and booleans are not."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> int:
        if type(value) is int or (isinstance(value, float) and value.is_integer()):
            return int(value)
        raise self.make_error("invalid", input=value)


class Boolean(Coded, fields.Boolean):
    """True or false; in a query, as text."""

    default_error_messages = {"invalid": coded("wrong_type", "Use true or false, without quotes.")}  # noqa: RUF012


class QueryBoolean(Boolean):
    """`true` or `false` in a query, and no other word for it."""

    def __init__(self, description: str, example: Any = None, **options: Any) -> None:
        super().__init__(description, example, truthy={"true"}, falsy={"false"}, **options)


class StrictBoolean(Boolean):
    """True or false; not a value that only equals them, such as 1."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> bool:
        if not isinstance(value, bool):
            raise self.make_error("invalid", input=value)
        return value


class Float(Coded, fields.Float):
    """A number."""


class Enum(Coded, fields.Enum[Any]):
    """One of the values of an enumeration."""

    json_schema: ClassVar[dict[str, Any]] = {"type": "string"}

    def __init__(self, kind: type[enum.Enum], description: str = "", example: Any = None, **options: Any) -> None:
        super().__init__(description, example, enum=kind, by_value=True, **options)


class Dict(Coded, fields.Dict):
    """An object with any keys."""

    default_error_messages = {  # noqa: RUF012
        "invalid": coded("wrong_type", 'Use an object, such as {"order": "A-1042"}.')
    }


class Counts(Dict):
    """Whole numbers by name."""

    def __init__(self, description: str, example: Any = None, **options: Any) -> None:
        super().__init__(description, example, keys=String(), values=Integer(), **options)


class List(Coded, fields.List[Any]):
    """A list."""

    default_error_messages = {  # noqa: RUF012
        "invalid": coded("wrong_type", 'Use a list, such as ["254711000000"].')
    }

    def __init__(self, inner: fields.Field[Any], description: str = "", example: Any = None, **options: Any) -> None:
        super().__init__(description, example, cls_or_instance=inner, **options)


class Raw(Coded, fields.Raw):
    """A value of any type, unchanged."""


class Nested(Coded, fields.Nested):
    """An object with its own schema."""

    def __init__(self, nested: type[Schema], description: str = "", example: Any = None, **options: Any) -> None:
        super().__init__(description, example, nested=nested, **options)


class UUID(Coded, fields.UUID):
    """A UUID in its canonical form of 36 characters, in either case."""

    default_error_messages = {  # noqa: RUF012
        "invalid_uuid": coded("invalid_uuid", f"Use {ID_FORM}.")
    }

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> uuid.UUID:
        try:
            parsed = uuid.UUID(value)
        except (ValueError, AttributeError, TypeError):
            raise self.make_error("invalid_uuid") from None
        if str(parsed) != value.lower():
            raise self.make_error("invalid_uuid")
        return parsed


class Date(Coded, fields.Date):
    """A day."""

    default_error_messages = {  # noqa: RUF012
        "invalid": coded("invalid_time", "Use an existing date, such as 2026-03-02.")
    }


class Timestamp(Coded, fields.DateTime):
    """A time in RFC 3339 with an offset; written in UTC with `Z`."""

    default_error_messages = {  # noqa: RUF012
        "invalid": coded("invalid_time", "Use an RFC 3339 time, such as 2026-03-02T09:00:00Z.")
    }

    def _serialize(self, value: datetime | None, attr: str | None, obj: Any, **kwargs: Any) -> str | None:
        return timestamp(value)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> datetime:
        if not isinstance(value, str) or "T" not in value:
            raise self.make_error("invalid", input=value, obj_type="datetime")
        try:
            moment = datetime.fromisoformat(value)
            if moment.tzinfo is None:
                raise fail("invalid_time", "Add the offset: for UTC, end with `Z`.")
            return moment.astimezone(UTC)
        except (ValueError, OverflowError):
            raise self.make_error("invalid", input=value, obj_type="datetime") from None


class Text(String):
    """The text of a message: 1 to 1,600 code points, not blank."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        message = super()._deserialize(value, attr, data, **kwargs)
        problem = text_problem(message)
        if problem is not None:
            raise fail(*problem)
        return message


class Phone(String):
    """A phone: digits only. The error suggests the corrected phone if only the format is wrong."""

    json_schema: ClassVar[dict[str, Any]] = {"pattern": f"^{PHONE.pattern}$"}

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        phone = super()._deserialize(value, attr, data, **kwargs)
        if PHONE.fullmatch(phone) is None:
            suggestion = suggest(phone)
            raise fail("invalid_phone", invalid_detail(phone), **({"suggestion": suggestion} if suggestion else {}))
        return phone


class Country(String):
    """A country: the two letters of ISO 3166-1, in capitals."""

    json_schema: ClassVar[dict[str, Any]] = {"pattern": "^[A-Z]{2}$"}

    def __init__(self, description: str, example: Any = None, **options: Any) -> None:
        form = validate.Regexp("[A-Z]{2}\\Z", error="Use the two capital letters of ISO 3166-1, such as KE.")
        super().__init__(description, example, validate=form, **options)


class WebhookUrl(String):
    """An https URL reachable from the internet. A setting decides whether loopback addresses are allowed."""

    json_schema: ClassVar[dict[str, Any]] = {"format": "uri", "maxLength": MAX_URL_LENGTH, "pattern": "^https?://"}

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        url = super()._deserialize(value, attr, data, **kwargs)
        problem = url_problem(url, loopback=True)
        if problem is not None:
            raise fail("invalid_url", problem)
        return url
