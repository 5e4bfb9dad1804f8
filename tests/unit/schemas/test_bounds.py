"""Every number, text and list of a request that has bounds: the least and the most are taken, and one more is refused.

The bounds are written out here, and not taken from the schemas. A field with bounds that is not here fails a test.
"""

import json
import math
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import Any

import pytest
from marshmallow import Schema, ValidationError, fields, validate

import api.app  # noqa: F401 - declares the endpoints
from api.accept.schemas import SingleSend
from api.endpoint import ENDPOINTS, OPERATORS
from api.problems import invalid
from api.schemas.base import Request
from api.schemas.entries import Entries
from api.schemas.errors import errors_of
from api.schemas.rules import CountOrShare, canary_messages

LARGEST_ID, LARGEST = 2**63 - 1, 2**31 - 1
BOUNDS: dict[str, tuple[int, int]] = {
    "account_id": (1, LARGEST_ID),
    "action": (1, 200),
    "actor": (1, 200),
    "allowed_ips": (1, 50),
    "attempt": (1, 1024),
    "carrier": (1, 100),
    "code": (1, 40),
    "credit_limit": (0, 10**12),
    "credits": (1, 10**12),
    "default_sender": (1, 15),
    "description": (1, 255),
    "destinations": (1, 1000),
    "destinations[]": (1, 15),
    "hours": (1, 744),
    "invitation_token": (1, 100),
    "kept_fields": (1, 2000),
    "limit": (1, 1000),
    "list_id": (1, LARGEST_ID),
    "low_balance_threshold": (0, 10**12),
    "max_binds": (1, 50),
    "max_segments": (1, 30),
    "message_ids": (1, 1000),
    "messages": (1, 10_000),
    "name": (1, 100),
    "new_password": (1, 200),
    "min_messages": (1, 1_000_000),
    "overlap_seconds": (0, 604_800),
    "password": (1, 200),
    "phone_column": (1, 2000),
    "rate": (1, 100_000),
    "reason": (1, 500),
    "recipient_authentication": (0, LARGEST),
    "recipient_marketing": (0, LARGEST),
    "recipient_transactional": (0, LARGEST),
    "reference": (1, 255),
    "requests_per_second": (1, 1_000_000),
    "retention_days": (1, 3650),
    "scopes": (1, 16),
    "search": (1, 100),
    "sender_id": (1, 15),
    "sent_to": (1, 21),
    "spend_day": (1, LARGEST),
    "spend_month": (1, LARGEST),
    "spend_threshold": (1, 10**12),
    "state": (1, 128),
    "subject": (1, 100),
    "tag": (1, 50),
    "token": (1, 100),
    "use_case": (1, 500),
    "weight": (1, 1000),
    "window": (1, 1000),
    "window_size": (1, 1000),
    "within_seconds": (0, 86_400),
    "CarrierChanges.rate": (0, 100_000),
    "ExportRequest.carrier": (1, 40),
    "MessageSearch.carrier": (1, 40),
    "LimitChanges.requests_per_second": (1, LARGEST),
    "NewAdjustment.credits": (-(10**12), 10**12),
    "OidcReturned.code": (1, 4096),
    "OperatorTokenRequest.reason": (10, 500),
    "RateLimitChange.rate": (0, 100_000),
    "SuppressionsBody.reason": (1, 255),
}
"""By field, or by schema and field; both ends are allowed."""
VALID_ITEMS: dict[str, Any] = {
    "message_ids": "01900000-0000-7000-8000-000000000000",
    "scopes": "sms:send",
}


class Bounded:
    """A field with bounds."""

    def __init__(self, schema: type[Schema], name: str, field: fields.Field[Any], validator: Any) -> None:
        self.name, self.field, self.is_length = name, field, isinstance(validator, validate.Length)
        self.qualified = f"{schema.__name__}.{name}"
        self.key = self.qualified if self.qualified in BOUNDS else name

    def value(self, size: int) -> Any:
        """A number, text or list of the size."""
        if not self.is_length:
            return size
        return [VALID_ITEMS.get(self.name, "x")] * size if isinstance(self.field, fields.List) else "x" * size

    def takes(self, size: int) -> bool:
        """Whether the field takes a value of the size."""
        try:
            self.field.deserialize(self.value(size))
        except ValidationError:
            return False
        return True


def bounded_in(schema: type[Schema] | None, seen: set[type[Schema]]) -> Iterator[Bounded]:
    """The fields with bounds of a schema and those within it."""
    if schema is None or schema in seen:
        return
    seen.add(schema)
    for name, field in schema().load_fields.items():
        inner = field.inner if isinstance(field, fields.List) else None
        for label, each in ((name, field), (f"{name}[]", inner)):
            for validator in each.validators if each is not None else ():
                if isinstance(validator, validate.Range | validate.Length):
                    assert each is not None
                    yield Bounded(schema, label, each, validator)
            if isinstance(each, fields.Nested):
                yield from bounded_in(type(each.schema), seen)


SEEN: set[type[Schema]] = set()
FIELDS = [
    found
    for operation in (*ENDPOINTS, *OPERATORS.operations)
    for schema in (operation.body, operation.query)
    for found in bounded_in(schema, SEEN)
]


def test_every_field_with_bounds_is_here() -> None:
    assert {each.key for each in FIELDS} == set(BOUNDS)


@pytest.mark.parametrize("field", [pytest.param(each, id=each.qualified) for each in FIELDS])
def test_the_bounds_are_accepted_and_one_beyond_is_refused(field: Bounded) -> None:
    least, most = BOUNDS[field.key]
    assert field.takes(least) and field.takes(most)
    assert not field.takes(least - 1) and not field.takes(most + 1)


def test_a_list_may_have_100_000_entries() -> None:
    assert len(Entries().deserialize([1] * 100_000)) == 100_000
    with pytest.raises(ValidationError, match="too_long"):
        Entries().deserialize([1] * 100_001)


def test_a_canary_may_be_a_million() -> None:
    assert CountOrShare().deserialize(1_000_000) == 1_000_000
    for wrong in (0, 1_000_001):
        with pytest.raises(ValidationError, match="count from 1"):
            CountOrShare().deserialize(wrong)


def test_a_share_of_a_canary_is_rounded_up_exactly() -> None:
    for thousandths in range(1, 100_000, 7):
        share = CountOrShare().deserialize(f"{thousandths // 1000}.{thousandths % 1000:03}%")
        for recipients in (100, 999, 100_000, 1_000_000):
            exact = Fraction(thousandths, 100_000) * recipients
            assert canary_messages(share, recipients) == math.ceil(exact)
    assert canary_messages(5, 100) == 5


def send_with(**options: Any) -> dict[str, Any]:
    loaded: dict[str, Any] = SingleSend().load(
        {"sender_id": "ACME", "phone": "254711000000", "message": "Hi", **options}
    )
    return loaded


def test_metadata_has_two_kilobytes() -> None:
    frame = len(json.dumps({"a": ""}))
    assert send_with(metadata={"a": "x" * (2048 - frame)})
    with pytest.raises(ValidationError, match="2 kB"):
        send_with(metadata={"a": "x" * (2049 - frame)})
    assert send_with(metadata={"a": "é" * ((2048 - frame) // 2)}), "in UTF-8"


@pytest.mark.parametrize(("field", "days"), [("send_at", 90), ("expires_at", 97)])
def test_times_may_be_only_so_many_days_ahead(field: str, days: int) -> None:
    def at(**more: int) -> str:
        return (datetime.now(UTC) + timedelta(days=days, **more)).isoformat()

    assert send_with(**{field: at(minutes=-5)})
    with pytest.raises(ValidationError, match=str(days)):
        send_with(**{field: at(minutes=5)})


def test_at_most_a_hundred_errors_are_listed() -> None:
    class Nothing(Request):
        """No field."""

    with pytest.raises(ValidationError) as of_few:
        Nothing().load({f"f{number}": 1 for number in range(99)})
    assert len(errors_of(Nothing(), of_few.value)) == 99
    with pytest.raises(ValidationError) as of_many:
        SingleSend().load({"message": "Hi"} | {f"f{number}": 1 for number in range(100_000)})
    listed = [(each["pointer"], each["code"]) for each in errors_of(SingleSend(), of_many.value)]
    assert listed == [(f"/f{number}", "unknown_field") for number in range(100)]
    assert len(of_many.value.messages) == 100
    each = {f"f{number}": {"code": "invalid", "detail": "No."} for number in range(1000)}
    assert len(errors_of(Nothing(), ValidationError(each))) == 100
    problem = invalid([{"pointer": "/x", "code": "invalid", "detail": "No."}] * 1000)
    assert (len(problem.members["errors"]), problem.members["errors_total"]) == (100, 1000)
