"""Every limit that GET /limits shows is enforced: what fits is accepted, and one more is refused with its error code.

The list is that of the response itself, so a new limit needs a case here.
"""

import ast
import json
from collections.abc import Callable
from datetime import timedelta
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from sqlalchemy import text
from werkzeug.test import TestResponse

from api.resources.limits.schemas import LimitsResponse
from tests.harness.service import PREFIX, Service
from tests.harness.times import ahead
from tests.integration.jobs.test_imports import send_file
from worker.jobs.housekeeping import housekeeping

PHONE = "254711000000"
SHOWN = sorted(LimitsResponse().fields)


class Case(NamedTuple):
    """The constant that is enforced, a request of so much or for object number so much, and the refusal."""

    constant: str
    request: Callable[[Service, int], TestResponse]
    status: int
    code: str
    lowered: int | None = None
    """The limit during the test, if the real one is too large for it."""
    objects: bool = False
    """Whether the requests are made from the first to the last, each for one object."""
    before: int = 0
    """Objects that the account has before."""


def raw(service: Service, path: str, size: int, **body: Any) -> TestResponse:
    """A JSON body that is padded to a size."""
    return service.client.post(
        PREFIX + path,
        data=json.dumps(body).ljust(size),
        content_type="application/json",
        headers={"Authorization": f"Bearer {service.token}"},
    )


def phones(count: int) -> list[str]:
    return [str(254711000000 + number) for number in range(count)]


def contact(service: Service, **details: Any) -> TestResponse:
    return service.post(f"/groups/{service.new_group([])}/contacts", contacts=[{"phone": PHONE, **details}])


def import_file(service: Service, size: int) -> TestResponse:
    return send_file(service, service.new_group([]), "1" * size)


def sized(constant: str, request: Callable[[Service, int], TestResponse], code: str, **more: Any) -> Case:
    """A case whose refusal is a 400."""
    return Case(constant, request, 400, code, **more)


CASES = {
    "message_characters": sized(
        "shared.sms.segments.MAX_CHARACTERS", lambda made, size: made.send(message="a" * size), "validation_failed"
    ),
    "phones_per_request": sized(
        "api.accept.recipients.MAX_PHONES", lambda made, size: made.bulk(phones(size)), "too_many_recipients", lowered=3
    ),
    "entries_per_request": sized(
        "api.schemas.entries.MAX_ENTRIES",
        lambda made, size: made.post("/suppressions", phones=phones(size)),
        "validation_failed",
        lowered=3,
    ),
    "body_bytes": Case(
        "api.handlers.SMALL_BODY",
        lambda made, size: raw(made, "/groups", size, name=f"G{size}"),
        413,
        "payload_too_large",
    ),
    "bulk_body_bytes": Case(
        "api.handlers.LARGE_BODY",
        lambda made, size: raw(made, "/sms/send-bulk", size, sender_id="ACME", phones=[PHONE], message="Hi"),
        413,
        "payload_too_large",
    ),
    "import_bytes": Case(
        "api.resources.imports.upload.MAX_UPLOAD_BYTES", import_file, 413, "payload_too_large", lowered=20
    ),
    "schedule_days_ahead": sized(
        "api.schemas.times.MAX_TIME_AHEAD",
        lambda made, days: made.send(send_at=ahead(timedelta(days=days, minutes=-1))),
        "validation_failed",
    ),
    "metadata_bytes": sized(
        "api.accept.schemas.MAX_METADATA_BYTES",
        lambda made, size: made.send(metadata={"a": "x" * (size - len('{"a": ""}'))}),
        "validation_failed",
    ),
    "page_items": sized(
        "api.schemas.paging.MAX_ITEMS", lambda made, size: made.get(f"/messages?limit={size}"), "validation_failed"
    ),
    "api_keys": Case(
        "api.resources.api_keys.routes.MAX_KEYS",
        lambda made, _: made.post("/api-keys"),
        409,
        "state_conflict",
        lowered=3,
        objects=True,
        before=1,
    ),
    "api_keys_per_day": Case(
        "api.resources.api_keys.routes.MAX_CREATED_PER_DAY",
        lambda made, _: made.post("/api-keys"),
        429,
        "rate_limited",
        lowered=3,
        objects=True,
        before=1,
    ),
    "smpp_credentials": Case(
        "shared.accounts.smpp_credentials.MAX_CREDENTIALS",
        lambda made, number: made.post(
            "/smpp-credentials", system_id=f"l{made.account_id}-{number}", allowed_ips=["192.0.2.1"]
        ),
        409,
        "state_conflict",
        lowered=3,
        objects=True,
    ),
    "sender_ids": Case(
        "shared.senders.sender_ids.MAX_SENDER_IDS",
        lambda made, number: made.post("/sender-ids", sender_id=f"S{number}"),
        409,
        "sender_limit",
        lowered=3,
        objects=True,
        before=1,
    ),
    "pending_sender_ids": Case(
        "shared.senders.sender_ids.MAX_PENDING",
        lambda made, number: made.post("/sender-ids", sender_id=f"S{number}"),
        409,
        "sender_limit",
        lowered=2,
        objects=True,
    ),
    "open_invitations": Case(
        "shared.people.invitations.MAX_OPEN",
        lambda made, number: made.post("/invitations", email=f"ann{number}@example.com", role="viewer"),
        409,
        "state_conflict",
        lowered=2,
        objects=True,
    ),
    "webhooks": Case(
        "api.resources.webhooks.routes.MAX_WEBHOOKS",
        lambda made, number: made.post("/webhooks", url=f"https://example.com/{number}"),
        409,
        "webhook_limit",
        objects=True,
    ),
    "groups": Case(
        "shared.contacts.groups.MAX_GROUPS",
        lambda made, number: made.post("/groups", name=f"G{number}"),
        409,
        "group_limit",
        lowered=2,
        objects=True,
    ),
    "contacts_per_group": Case(
        "shared.contacts.groups.MAX_CONTACTS",
        lambda made, size: made.post(f"/groups/{made.new_group([])}/contacts", contacts=phones(size)),
        409,
        "group_full",
        lowered=2,
    ),
    "contact_fields": sized(
        "api.resources.contacts.entries.MAX_FIELDS",
        lambda made, size: contact(made, fields={f"f{number}": "a" for number in range(size)}),
        "no_valid_contacts",
    ),
    "contact_field_characters": sized(
        "shared.contacts.fields.MAX_VALUE_LENGTH",
        lambda made, size: contact(made, fields={"name": "a" * size}),
        "no_valid_contacts",
    ),
    "contact_tags": sized(
        "api.resources.contacts.entries.MAX_TAGS",
        lambda made, size: contact(made, tags=[f"t{number}" for number in range(size)]),
        "no_valid_contacts",
    ),
    "contact_tag_characters": sized(
        "shared.contacts.fields.MAX_TAG_LENGTH",
        lambda made, size: contact(made, tags=["t" * size]),
        "no_valid_contacts",
    ),
    "open_imports": Case(
        "shared.contacts.imports.MAX_OPEN", lambda made, _: import_file(made, 12), 409, "import_limit", objects=True
    ),
    "open_import_bytes": Case("shared.contacts.imports.MAX_OPEN_BYTES", import_file, 409, "import_limit", lowered=20),
    "suppressions": Case(
        "api.resources.suppressions.entries.MAX_OPT_OUTS",
        lambda made, number: made.post("/suppressions", phones=[str(254711000000 + number)]),
        409,
        "suppression_limit",
        lowered=3,
        objects=True,
    ),
    "open_erasures": Case(
        "shared.privacy.erasures.MAX_OPEN",
        lambda made, number: made.post("/erasures", phone=str(254711000000 + number)),
        409,
        "erasure_limit",
        lowered=3,
        objects=True,
    ),
}
SERVER = "tests/unit/server/test_application.py::"
JSON, HEADS = "tests/unit/http/test_json_body.py::", "tests/unit/server/test_protocol.py::"
SIGN_IN, LISTS = "tests/integration/auth/test_sign_in.py::", "tests/integration/http/test_bounded_lists.py::"
LIMITS = "tests/integration/limits/test_limits.py::"
TESTED_BELOW_HTTP = {
    "headers": ("api.http.request.MAX_HEADERS", HEADS + "test_a_head_that_is_too_large"),
    "header_bytes": ("api.http.request.MAX_LINE_BYTES", HEADS + "test_a_head_that_is_too_large"),
    "head_bytes": ("api.http.request.MAX_HEAD_BYTES", HEADS + "test_a_head_that_is_too_large"),
    "connections_per_address": (
        "api.limits.bulkheads.CONNECTIONS_OF_ADDRESS",
        "tests/services/deploy/test_front.py::test_an_address_has_a_maximum_of_requests_at_the_same_time",
    ),
    "body_bytes_per_second": (
        "api.http.receive.MINIMUM_RATE",
        "tests/unit/http/test_receive.py::test_a_body_that_drips",
    ),
    "rejected_entries": (
        "api.commit.draft.MAX_INLINE_ENTRIES",
        "tests/integration/accept/test_inline_entries.py::test_a_list",
    ),
    "json_keys": ("api.http.json_body.MAX_KEYS", JSON + "test_as_many_keys_as_an_object_may_have"),
    "json_values": ("api.http.json_body.MAX_VALUES", JSON + "test_a_body_full_of_tiny_values"),
    "small_body_json_values": ("api.http.json_body.MAX_VALUES_SMALL_BODY", JSON + "test_a_body_full_of_tiny_values"),
    "json_depth": ("api.http.json_body.MAX_DEPTH", JSON + "test_a_body_may_be_32_levels_deep"),
    "requests_under_way": (
        "api.server.application.MAX_PER_ACCOUNT",
        SERVER + "test_a_client_with_too_many_requests_under_way_must_try_again",
    ),
    "large_bodies_under_way": (
        "api.server.application.LARGE_OF_ACCOUNT",
        SERVER + "test_few_large_bodies_of_an_account_are_worked_on_at_the_same_time",
    ),
    "large_bodies_worked_on": (
        "api.server.application.WORKED_ON_OF_ACCOUNT",
        SERVER + "test_few_large_bodies_of_an_account_are_worked_on_at_the_same_time",
    ),
    "exports_under_way": (
        "api.server.thread_pools.EXPORTS_OF_ACCOUNT",
        SERVER + "test_too_many_simultaneous_exports_are_refused",
    ),
    "unread_bytes": (
        "api.server.thread_pools.MAX_UNREAD_BYTES",
        SERVER + "test_an_owner_whose_clients_do_not_read_gets_no_more",
    ),
    "token_seconds": (
        "api.auth.tokens.VALID",
        "tests/integration/http/test_bad_inputs.py::test_b45_a_token_that_has_expired",
    ),
    "revoked_tokens_per_key": (
        "api.auth.revocations.MAX_REVOKED",
        SIGN_IN + "test_a_key_has_a_maximum_of_revoked_tokens",
    ),
    "revoked_tokens": (
        "api.auth.revocations.MAX_REVOKED_OF_ACCOUNT",
        SIGN_IN + "test_an_account_has_a_maximum_of_revoked_tokens",
    ),
    "page_rows_examined": (
        "api.http.bounded_queries.MAX_ROWS_EXAMINED",
        LISTS + "test_a_page_with_a_filter_examines_a_bounded_number_of_rows",
    ),
    "page_seconds": (
        "api.http.bounded_queries.STATEMENT_SECONDS",
        LISTS + "test_a_statement_of_a_list_that_takes_too_long_is_ended",
    ),
    "idempotency_days": (
        "worker.jobs.housekeeping.IDEMPOTENCY_DAYS",
        "tests/integration/limits/test_every_limit.py::test_an_idempotency_key_is_kept_for_eight_days",
    ),
}
"""Limits that single requests cannot exceed: the constant that is enforced, and the test that exceeds it."""
OF_THE_ACCOUNT = {
    "requests_per_second": LIMITS + "test_an_account_has_a_rate_of_its_own",
    "spending": LIMITS + "test_sends_above_the_daily_spend_limit_are_refused",
    "destinations": LIMITS + "test_one_phone_must_be_in_an_allowed_destination",
    "pumping_guard": LIMITS + "test_one_time_passwords_to_consecutive_phones_are_refused",
    "messages_per_phone_hour": "tests/integration/accept/test_recipient_limits.py::test_it_works",
}
NO_LIMITS = {"backlog_messages", "backlog_limited_by", "backlog_eta"}


def enforced(constant: str) -> int:
    """The value of a constant."""
    module, _, name = constant.rpartition(".")
    value = getattr(import_module(module), name)
    return int(value.days if isinstance(value, timedelta) else value)


ENFORCED = {
    **{limit: enforced(case.constant) for limit, case in CASES.items()},
    **{limit: enforced(constant) for limit, (constant, _) in TESTED_BELOW_HTTP.items()},
}
"""What the constants are by themselves: tests lower and raise some of them."""


def test_each_limit_that_is_shown_has_a_test() -> None:
    tested = [*CASES, *TESTED_BELOW_HTTP, *OF_THE_ACCOUNT, *NO_LIMITS]
    assert sorted(tested) == SHOWN


@pytest.mark.parametrize("limit", sorted(ENFORCED))
def test_what_is_shown_is_what_is_enforced(service: Service, limit: str) -> None:
    assert service.get("/limits").json[limit] == ENFORCED[limit]


@pytest.mark.parametrize("limit", sorted(CASES))
def test_one_more_is_refused(service: Service, monkeypatch: pytest.MonkeyPatch, limit: str) -> None:
    case = CASES[limit]
    if case.lowered is not None:
        monkeypatch.setattr(case.constant, case.lowered)
    most = case.lowered or enforced(case.constant)
    for number in range(case.before + 1, most) if case.objects else ():
        assert case.request(service, number).status_code == 200
    within, refused = case.request(service, most), case.request(service, most + 1)
    assert within.status_code == 200, within.text
    assert (refused.status_code, refused.get_json(force=True)["code"]) == (case.status, case.code)


@pytest.mark.parametrize("test", sorted({each for _, each in TESTED_BELOW_HTTP.values()} | {*OF_THE_ACCOUNT.values()}))
def test_each_named_test_exists(test: str) -> None:
    file, _, function = test.partition("::")
    module = ast.parse(Path(file).read_text())
    assert function in {node.name for node in module.body if isinstance(node, ast.FunctionDef)}


def test_an_idempotency_key_is_kept_for_eight_days(service: Service) -> None:
    key = {"Idempotency-Key": "once"}
    first = service.send(headers=key).json["send_id"]
    age = text("UPDATE idempotency SET created_at = created_at - :by WHERE account_id = :account")
    for by, same in ((timedelta(days=7, hours=23), True), (timedelta(hours=2), False)):
        service.execute(age, by=by, account=service.account_id)
        for step in housekeeping(service.engine):
            step()
        assert (service.send(headers=key).json["send_id"] == first) is same
