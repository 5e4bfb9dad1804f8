"""What a client may get wrong, or do on purpose: refused in the one shape of errors, with nothing stored or reserved.

The ids are those of the catalogue of bad inputs. Bodies that end early, or never, are in
tests/unit/http/test_receive.py, broken framing is in tests/unit/server/test_protocol.py, and slow clients are in
tests/services/server/test_hostile_clients.py.
"""

import base64
import json
import re
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import Engine, text
from werkzeug.test import TestResponse

from api.endpoint import ENDPOINTS
from api.http.json_body import LARGE_BODY, SMALL_BODY
from api.problems import CATALOGUE
from api.resources.auth.routes import MAX_BODY
from tests.harness.service import PREFIX, Service

PHONE = "254711000000"
UNKNOWN = "01900000-0000-7000-8000-000000000000"
SINGLE = {"sender_id": "ACME", "phone": PHONE, "message": "Hi"}
BULK = {"sender_id": "ACME", "phones": [PHONE], "message": "Hi"}
GROUP = {"sender_id": "ACME", "group_id": UNKNOWN, "message": "Hi"}
BODIES: dict[str, dict[str, Any]] = {"/sms/send": SINGLE, "/sms/send-bulk": BULK, "/sms/send-group": GROUP}
WITH_BODY = (*BODIES, "/sms/quote", "/auth/token")

FACTS = text(
    """
    SELECT (SELECT count(*) FROM send) AS sends, (SELECT count(*) FROM batch) AS batches,
           (SELECT count(*) FROM ledger) AS entries, (SELECT count(*) FROM idempotency) AS keys,
           (SELECT count(*) FROM simulated_submit) AS submits, (SELECT sum(available) FROM account) AS available,
           (SELECT sum(reserved) FROM account) AS reserved
    """
)


def facts(service: Service) -> Any:
    return service.row(FACTS)


@pytest.fixture(scope="module")
def service(engine: Engine) -> Service:
    """The account of all tests that leave it as it was, but for a few credits."""
    return Service(engine)


@pytest.fixture
def own_service(engine: Engine) -> Service:
    """An account of the test's own, which it may change."""
    return Service(engine)


@pytest.fixture
def untouched(service: Service) -> Iterator[None]:
    """After the test, nothing is stored, reserved or submitted that was not before it."""
    before = facts(service)
    yield
    assert facts(service) == before


def assert_problem(response: TestResponse, status: int, code: str) -> dict[str, Any]:
    """The response is this problem, with every member of the contract and nothing of the inside. Returns it."""
    assert response.status_code == status, response.text
    assert response.headers["Content-Type"] == "application/problem+json"
    problem = json.loads(response.data)
    assert problem["code"] == code, problem
    kind = CATALOGUE[code]
    assert problem["type"] == f"/api/v1/errors/{code}"
    assert problem["title"] == kind.title
    assert problem["status"] == kind.status == status
    assert problem["retryable"] is kind.retryable
    assert problem["remediation"] == kind.remediation
    assert problem["detail"].strip()
    assert problem["instance"].startswith("/")
    assert problem["request_id"] == response.headers["X-Request-Id"]
    assert "Traceback" not in response.text and "psycopg" not in response.text
    if status == 401:
        assert response.headers["WWW-Authenticate"].startswith("Bearer")
    return dict(problem)


def pointers(problem: dict[str, Any]) -> set[str]:
    assert problem["errors_total"] >= len(problem["errors"]) > 0
    return {error["pointer"] for error in problem["errors"]}


def raw(service: Service, path: str, data: bytes, content_type: str | None = "application/json") -> TestResponse:
    """POST bytes as they are."""
    headers = {"Authorization": f"Bearer {service.token}"}
    return service.client.post(PREFIX + path, data=data, content_type=content_type, headers=headers)


def with_text(value: bytes) -> bytes:
    """A single send whose message is this piece of JSON."""
    return b'{"sender_id": "ACME", "phone": "254711000000", "message": ' + value + b"}"


def test_it_works(own_service: Service) -> None:
    before = facts(own_service)
    assert raw(own_service, "/sms/send", json.dumps(SINGLE).encode()).status_code == 200
    after = facts(own_service)
    assert (after.sends - before.sends, after.batches - before.batches, after.available - before.available) == (
        1,
        1,
        -1,
    )


NOT_JSON = {
    "B01-empty": b"",
    "B01-null": b"null",
    "B01-array": b"[]",
    "B02-truncated": b'{"sender_id": "ACME", "phone": "2547',
    "B02-trailing-comma": b'{"phone": "254711000000",}',
    "B06-arrays-100000-deep": b'{"phone":' + b"[" * 30_000 + b"]" * 30_000 + b"}",
    "B06-33-deep": b'{"a":' * 33 + b"1" + b"}" * 33,
    "B07-5000-digits": with_text(b"1" * 5000),
    "B07-1e999": with_text(b"1e999"),
    "B07-nan": with_text(b"NaN"),
    "B07-beyond-64-bits": with_text(b"9223372036854775808"),
    "B07-in-metadata": with_text(b'"Hi", "metadata": {"a": [1, {"b": 1e400}]}'),
    "B08-twice": b'{"sender_id": "ACME", "phone": "254711000000", "phone": "254711000001", "message": "Hi"}',
    "B09-not-utf-8": with_text(b'"\xff\xfe"'),
    "B09-surrogate-bytes": with_text(b'"\xed\xa0\x80"'),
    "B09-utf-16": json.dumps(SINGLE).encode("utf-16"),
    "B10-lone-surrogate": with_text(b'"\\ud800"'),
    "B10-in-metadata": with_text(b'"Hi", "metadata": {"a": ["\\udfff"]}'),
    "B11-nul": with_text(b'"a\\u0000b"'),
    "B11-nul-in-metadata": with_text(b'"Hi", "metadata": {"\\u0000": 1}'),
    "B11-nul-in-phones": b'{"sender_id": "ACME", "phones": ["254711000000", "2547\\u000011"], "message": "Hi"}',
    "B24-control-raw": with_text(b'"a\nb"'),
}


@pytest.mark.usefixtures("untouched")
@pytest.mark.parametrize("data", [pytest.param(data, id=name) for name, data in NOT_JSON.items()])
def test_a_body_that_is_not_strict_json(service: Service, data: bytes) -> None:
    for path in WITH_BODY:
        if path == "/auth/token" and len(data) > MAX_BODY:
            assert_problem(raw(service, path, data), 413, "payload_too_large")
        else:
            assert_problem(raw(service, path, data), 400, "invalid_json")


@pytest.mark.usefixtures("untouched")
@pytest.mark.parametrize(
    "content_type",
    [
        pytest.param(None, id="B03-none"),
        pytest.param("text/plain", id="B03-text"),
        pytest.param("application/x-www-form-urlencoded", id="B03-form"),
        pytest.param("multipart/form-data; boundary=x", id="B03-multipart"),
        pytest.param("application/json2", id="B03-almost"),
        pytest.param("application/xml", id="B03-xml"),
        pytest.param(";charset=utf-8", id="B03-nonsense"),
    ],
)
def test_a_content_type_other_than_json(service: Service, content_type: str | None) -> None:
    for path in WITH_BODY:
        body = json.dumps(BODIES.get(path, SINGLE)).encode()
        assert_problem(raw(service, path, body, content_type), 415, "unsupported_media_type")


@pytest.mark.usefixtures("untouched")
@pytest.mark.parametrize("path", [pytest.param(path, id=f"B04-one-byte-over-{path}") for path in WITH_BODY])
def test_a_body_that_is_one_byte_too_large(service: Service, path: str) -> None:
    limit = LARGE_BODY if path in ("/sms/send-bulk", "/sms/quote") else SMALL_BODY
    limit = MAX_BODY if path == "/auth/token" else limit
    body = json.dumps(BODIES.get(path, SINGLE)).encode()
    assert_problem(raw(service, path, body.ljust(limit + 1)), 413, "payload_too_large")
    assert raw(service, path, b"{}".ljust(limit)).status_code == 400


@pytest.mark.usefixtures("untouched")
@pytest.mark.parametrize("path", ["/auth/token", "/auth/revoke"])
def test_a_blank_body_beside_credentials_is_bounded_too(service: Service, path: str) -> None:
    headers = {"Authorization": f"Bearer {service.token}", "X-API-Key": "bsk_none", "X-API-Secret": "none"}
    response = service.client.post(PREFIX + path, data=b" " * (MAX_BODY + 1), headers=headers)
    assert_problem(response, 413, "payload_too_large")
    assert service.get("/balance").status_code == 200


@pytest.mark.usefixtures("untouched")
@pytest.mark.parametrize("end", [pytest.param(b"x", id="B05-garbage"), pytest.param(b" ", id="B05-blank")])
def test_a_chunked_body_is_not_cut_at_the_cap_and_then_taken(service: Service, end: bytes) -> None:
    body = json.dumps(SINGLE).encode().ljust(SMALL_BODY) + end

    class Stream:
        rest = body

        def read(self, size: int = -1) -> bytes:
            given, self.rest = self.rest[:size], self.rest[size:]
            return given

    response = service.client.post(
        PREFIX + "/sms/send",
        content_type="application/json",
        headers={"Authorization": f"Bearer {service.token}", "Transfer-Encoding": "chunked"},
        environ_overrides={"wsgi.input": Stream(), "wsgi.input_terminated": True},
    )
    assert_problem(response, 413, "payload_too_large")


@pytest.mark.usefixtures("untouched")
@pytest.mark.parametrize(
    ("field", "nearest"),
    [
        pytest.param("send_At", "send_at", id="B12-send_At"),
        pytest.param("sendat", "send_at", id="B12-sendat"),
        pytest.param("recipent", None, id="B12-far"),
        pytest.param("phons", "phones", id="B12-phons"),
        pytest.param("account_id", None, id="B12-account_id"),
        pytest.param("price", None, id="B12-price"),
        pytest.param("status", None, id="B12-status"),
        pytest.param("", None, id="B12-no-name"),
        pytest.param("__class__", None, id="B12-class"),
        pytest.param("a/b~c", None, id="B12-pointer"),
        pytest.param("x" * 5000, None, id="B12-long"),
    ],
)
def test_an_unknown_field_is_named(service: Service, field: str, nearest: str | None) -> None:
    problem = assert_problem(service.post("/sms/send-bulk", **BULK, **{field: 1}), 400, "validation_failed")
    (error,) = problem["errors"]
    assert error["code"] == "unknown_field"
    assert error["pointer"] == ("/" + field.replace("~", "~0").replace("/", "~1"))[:200]
    if nearest:
        assert f"`{nearest}`" in error["detail"]


@pytest.mark.usefixtures("untouched")
@pytest.mark.parametrize(
    ("path", "field"),
    [pytest.param(path, field, id=f"B13-{path}-{field}") for path, body in BODIES.items() for field in body]
    + [pytest.param("/auth/token", field, id=f"B13-{field}") for field in ("api_key", "api_secret")],
)
def test_a_required_field_is_missing(service: Service, path: str, field: str) -> None:
    body = {**BODIES.get(path, {"api_key": "a", "api_secret": "b"})}
    del body[field]
    problem = assert_problem(service.post(path, **body), 400, "validation_failed")
    assert pointers(problem) == {f"/{field}"}
    assert problem["errors"][0]["code"] == "required"


SENSELESS: dict[str, dict[str, Any]] = {
    "send_at": {
        "date": "2030-01-01",
        "no-offset": "2030-01-01T00:00:00",
        "words": "tomorrow",
        "too-far": "2099-01-01T00:00:00Z",
        "year-0": "0000-01-01T00:00:00Z",
        "year-9999": "9999-12-31T23:59:59-12:00",
        "year-1": "0001-01-01T00:00:00+12:00",
        "leap-day": "2027-02-29T00:00:00Z",
        "wrong-year": "2020-01-01T00:00:00Z",
        "arabic": "٢٠٣٠-01-01T00:00:00Z",
    },
    "expires_at": {"past": "2020-01-01T00:00:00Z", "too-far": "2099-01-01T00:00:00Z"},
    "reference": {"empty": "", "long": "x" * 256},
    "callback_url": {"http": "http://example.com/", "words": "not a url", "file": "file:///etc/passwd"},
    "category": {"unknown": "urgent", "capitals": "Marketing", "empty": ""},
    "on_unicode": {"unknown": "drop"},
    "max_segments": {"zero": 0, "negative": -1, "many": 31},
    "rate": {"zero": 0, "negative": -1, "many": 2**63 - 1},
    "metadata": {"large": {"a": "x" * 2048}},
}


@pytest.mark.usefixtures("untouched")
@pytest.mark.parametrize(
    ("field", "value"),
    [
        pytest.param(field, value, id=f"B14-{field}-{name}")
        for field, values in SENSELESS.items()
        for name, value in values.items()
    ],
)
def test_a_field_with_an_invalid_value(service: Service, field: str, value: Any) -> None:
    problem = assert_problem(service.post("/sms/send", **SINGLE, **{field: value}), 400, "validation_failed")
    assert pointers(problem) == {f"/{field}"}


def test_times_the_wrong_way_round(service: Service) -> None:
    now = datetime.now(UTC)
    late, early = (now + timedelta(days=2)).isoformat(), (now + timedelta(days=1)).isoformat()
    problem = assert_problem(
        service.post("/sms/send", **SINGLE, send_at=late, expires_at=early), 400, "validation_failed"
    )
    assert pointers(problem) == {"/expires_at"}


BAD_PHONES = {
    "B15-empty": "",
    "B15-plus": "+254711000000",
    "B15-16-digits": "2547110000001234",
    "B15-two": "254711000000,254711000001",
    "B16-newline": "254711000000\n",
    "B17-arabic-indic": "٢٥٤٧١١٠٠٠٠٠٠",
    "B17-zero-width": "254711\u200b000000",
}


@pytest.mark.usefixtures("untouched")
@pytest.mark.parametrize("phone", [pytest.param(phone, id=name) for name, phone in BAD_PHONES.items()])
def test_an_invalid_phone(service: Service, phone: str) -> None:
    single = assert_problem(service.send(phone), 400, "validation_failed")
    assert pointers(single) == {"/phone"}
    bulk = assert_problem(service.bulk([phone]), 400, "no_valid_recipients")
    assert [entry["code"] for entry in bulk["rejected"]] == ["invalid_phone"]
    strict = assert_problem(service.bulk([PHONE, phone], strict=True), 400, "validation_failed")
    assert pointers(strict) == {"/phones/1"}


@pytest.mark.usefixtures("untouched")
@pytest.mark.parametrize(
    ("message", "code"),
    [
        pytest.param("", "message_empty", id="B20-empty"),
        pytest.param("\u200b\u200d\ufeff", "message_empty", id="B20-invisible"),
        pytest.param("x" * 1601, "message_too_long", id="B21-1601"),
        pytest.param("\x1b[31mred", "invalid_characters", id="B24-escape"),
        pytest.param("a\x9bb", "invalid_characters", id="B24-c1"),
    ],
)
def test_a_text_that_cannot_be_sent(service: Service, message: str, code: str) -> None:
    for path, body in BODIES.items():
        problem = assert_problem(service.post(path, **{**body, "message": message}), 400, "validation_failed")
        assert [(error["pointer"], error["code"]) for error in problem["errors"]] == [("/message", code)]


@pytest.mark.usefixtures("untouched")
@pytest.mark.parametrize(
    ("sender", "status", "code"),
    [
        pytest.param("OTHER", 403, "sender_not_registered", id="B26-unregistered"),
        pytest.param("АСМЕ", 403, "sender_not_registered", id="B26-cyrillic"),  # noqa: RUF001
        pytest.param("ACME\u200b", 403, "sender_not_registered", id="B26-zero-width"),
        pytest.param("' OR 1=1 --", 403, "sender_not_registered", id="B26-sql"),
        pytest.param("", 400, "validation_failed", id="B26-empty"),
        pytest.param("x" * 16, 400, "validation_failed", id="B26-16-characters"),
    ],
)
def test_a_sender_id_that_the_account_does_not_have(service: Service, sender: str, status: int, code: str) -> None:
    for path, body in BODIES.items():
        assert_problem(service.post(path, **{**body, "sender_id": sender}), status, code)


@pytest.mark.parametrize(
    "state", [pytest.param(state, id=f"B26-{state}") for state in ("pending", "rejected", "suspended")]
)
def test_a_sender_that_is_not_approved(own_service: Service, state: str) -> None:
    owner = own_service.new_account("owner")
    own_service.execute(
        "INSERT INTO sender_id (account_id, sender_id, state) VALUES (:own, 'BANK', :state),"
        " (:other, 'THEIRS', 'approved')",
        own=own_service.account_id,
        other=owner,
        state=state,
    )
    before = facts(own_service)
    assert_problem(own_service.post("/sms/send", **{**SINGLE, "sender_id": "BANK"}), 403, "sender_not_approved")
    assert_problem(own_service.post("/sms/send", **{**SINGLE, "sender_id": "THEIRS"}), 403, "sender_not_registered")
    assert facts(own_service) == before


@pytest.mark.usefixtures("untouched")
def test_b27_no_recipient(service: Service) -> None:
    problem = assert_problem(service.bulk([]), 400, "validation_failed")
    assert pointers(problem) == {"/phones"}


@pytest.mark.usefixtures("untouched")
def test_b28_more_than_a_hundred_thousand_recipients(service: Service) -> None:
    phones = [str(254700000000 + number) for number in range(100_001)]
    problem = assert_problem(service.bulk(phones), 400, "too_many_recipients")
    assert (problem["max"], problem["submitted"]) == (100_000, 100_001)
    assert_problem(service.bulk(phones[:100_000]), 402, "low_balance")


def test_b29_duplicates_are_dropped_reported_and_not_charged(own_service: Service) -> None:
    response = own_service.bulk([PHONE, "254711000001", PHONE, PHONE]).json
    assert response["counts"] | {"suppressed": 0} == {
        "submitted": 4,
        "accepted": 2,
        "duplicate": 2,
        "invalid": 0,
        "suppressed": 0,
    }
    assert [(entry["index"], entry["duplicate_of"]) for entry in response["rejected"]] == [(2, 0), (3, 0)]
    assert response["cost"] == 2
    assert response["balance"] == 998


def test_b30_one_invalid_among_many(service: Service) -> None:
    phones: list[Any] = [str(254700000000 + number) for number in range(10_000)]
    phones[5_000] = "0712"
    before = facts(service)
    problem = assert_problem(service.bulk(phones, strict=True), 400, "validation_failed")
    assert pointers(problem) == {"/phones/5000"}
    assert facts(service) == before
    response = service.bulk(phones[4_900:5_100]).json
    assert (response["counts"]["accepted"], response["counts"]["invalid"], response["cost"]) == (199, 1, 199)
    assert [(entry["index"], entry["phone"]) for entry in response["rejected"]] == [(100, "0712")]


@pytest.mark.usefixtures("untouched")
@pytest.mark.parametrize(
    ("group", "status", "code"),
    [
        pytest.param("x", 400, "validation_failed", id="B32-word"),
        pytest.param("urn:uuid:01900000-0000-7000-8000-000000000000", 400, "validation_failed", id="B32-urn"),
        pytest.param("01900000-0000-7000-8000-00000000000A", 404, "group_not_found", id="B32-capitals"),
        pytest.param("0190-00000000-7000-8000-000000000000", 400, "validation_failed", id="B32-hyphens"),
        pytest.param(UNKNOWN, 404, "group_not_found", id="B32-unknown"),
    ],
)
def test_an_unknown_group(service: Service, group: str, status: int, code: str) -> None:
    problem = assert_problem(service.post("/sms/send-group", **{**GROUP, "group_id": group}), status, code)
    assert status != 400 or pointers(problem) == {"/group_id"}


def send_group(service: Service, group: str, **more: Any) -> TestResponse:
    return service.post("/sms/send-group", **{**GROUP, "group_id": group}, **more)


def test_b34_an_empty_group(service: Service) -> None:
    group = service.new_group([])
    before = facts(service)
    assert_problem(send_group(service, group), 400, "group_empty")
    assert facts(service) == before


@pytest.mark.usefixtures("untouched")
@pytest.mark.parametrize(
    "key",
    [
        pytest.param("", id="B40-empty"),
        pytest.param("x" * 256, id="B40-256"),
        pytest.param("a b", id="B40-space"),
        pytest.param("a\x01", id="B40-control"),
        pytest.param("é", id="B40-latin-1"),
        pytest.param("key, key", id="B40-two-headers"),
    ],
)
def test_an_invalid_idempotency_key(service: Service, key: str) -> None:
    problem = assert_problem(service.send(headers={"Idempotency-Key": key}), 400, "validation_failed")
    assert [error["code"] for error in problem["errors"]] == ["invalid_idempotency_key"]
    assert pointers(problem) == {"/Idempotency-Key"}


def flipped(token: str) -> str:
    """Another signature. Its first character, for the last one has bits that say nothing."""
    body, signature = token.rsplit(".", 1)
    return f"{body}.{'A' if signature[0] != 'A' else 'B'}{signature[1:]}"


def unsigned(token: str) -> str:
    claims = base64.urlsafe_b64encode(b'{"a":1,"k":"x","t":false,"s":["sms:send"],"i":"y"}').decode().rstrip("=")
    return ".".join([claims, *token.split(".")[1:]])


@pytest.mark.usefixtures("untouched")
@pytest.mark.parametrize(
    ("header", "code"),
    [
        pytest.param(lambda token: None, "missing_token", id="B45-none"),
        pytest.param(lambda token: "Bearer", "missing_token", id="B45-no-token"),
        pytest.param(lambda token: token, "missing_token", id="B45-no-scheme"),
        pytest.param(lambda token: f"Basic {token}", "missing_token", id="B45-basic"),
        pytest.param(lambda token: "Bearer x", "invalid_token", id="B45-malformed"),
        pytest.param(lambda token: f"Bearer {flipped(token)}", "invalid_token", id="B45-signature"),
        pytest.param(lambda token: f"Bearer {unsigned(token)}", "invalid_token", id="B45-claims"),
        pytest.param(lambda token: f"Bearer {token} {token}", "invalid_token", id="B45-two"),
        pytest.param(lambda token: f"Bearer {token}\x00", "invalid_token", id="B45-nul"),
        pytest.param(lambda token: "Bearer é", "invalid_token", id="B45-not-ascii"),
        pytest.param(lambda token: f"Bearer {'x' * 100_000}", "invalid_token", id="B45-long"),
        pytest.param(lambda token: "Bearer eyJhbGciOiJub25lIn0.eyJhIjoxfQ.", "invalid_token", id="B45-unsigned-jwt"),
    ],
)
def test_a_missing_or_invalid_token(service: Service, header: Any, code: str) -> None:
    given = header(service.token)
    for path, body in BODIES.items():
        headers = {} if given is None else {"Authorization": given}
        assert_problem(service.client.post(PREFIX + path, json=body, headers=headers), 401, code)


def test_b45_a_token_that_has_expired(own_service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time", lambda now=time.time: now() + 86_401)
    before = facts(own_service)
    assert_problem(own_service.send(), 401, "token_expired")
    assert facts(own_service) == before


@pytest.mark.usefixtures("untouched")
@pytest.mark.parametrize(
    ("secret", "status", "code"),
    [
        pytest.param("pässwörd", 401, "invalid_credentials", id="B46-not-ascii"),
        pytest.param("", 401, "invalid_credentials", id="B46-empty"),
        pytest.param("x" * 3_000, 401, "invalid_credentials", id="B46-3-kB"),
        pytest.param("x" * 1_000_000, 413, "payload_too_large", id="B46-1-MB"),
        pytest.param(1234, 400, "validation_failed", id="B46-number"),
        pytest.param(None, 400, "validation_failed", id="B46-null"),
        pytest.param({"$ne": ""}, 400, "validation_failed", id="B46-object"),
    ],
)
def test_a_secret_that_is_wrong(service: Service, secret: Any, status: int, code: str) -> None:
    key = service.scalar("SELECT id FROM api_key WHERE account_id = :account", account=service.account_id)
    for name in (key, "smsk_live_unknown"):
        response = service.client.post(f"{PREFIX}/auth/token", json={"api_key": name, "api_secret": secret})
        assert_problem(response, status, code)


@pytest.mark.usefixtures("untouched")
@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=f"B48-{path}")
        for path in (
            "/api/v1/../v1/sms/send",
            "/api/v1/%2e%2e/v1/sms/send",
            "/api/v1/./sms/send",
            "/api/v1//sms/send",
            "/API/v1/sms/send",
            "/api/v1/SMS/send",
            "/api/v1/sms/send;a=b",
            "/api/v1/sms/send%00",
            "/api/v1/sms/send%20",
            "/api/v1/sms/send%0a",
            "/api/v1/sms",
            "/api/v2/sms/send",
            "/sms/send",
            "/api/v1/" + "x" * 5000,
        )
    ],
)
def test_an_unknown_path(service: Service, path: str) -> None:
    headers = {"Authorization": f"Bearer {service.token}"}
    problem = assert_problem(service.client.post(path, json=SINGLE, headers=headers), 404, "not_found")
    assert len(problem["instance"]) <= 500


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=f"B48-no-token-{path}")
        for path in ("//api/v1/balance", "/api/v1/balance/", "/api/v1/%62alance", "///api/v1/groups/")
    ],
)
def test_a_path_written_in_another_way_needs_a_token_too(service: Service, path: str) -> None:
    assert service.client.get(path).status_code in (401, 404)


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=f"B48-{path}")
        for path in (
            f"/{folder}/{name}"
            for folder in ("docs", "reference")
            for name in ("../app.py", "%2e%2e/app.py", "..%2fapp.py", "/etc/passwd", ".", "%00")
        )
    ],
)
def test_no_internal_file_is_served(service: Service, path: str) -> None:
    assert_problem(service.client.get(path), 404, "not_found")


@pytest.mark.parametrize("path", ["/sends/{}", "/sends/{}/messages", "/messages/{}", "/messages/{}/events"])
@pytest.mark.parametrize("given", ["x", "1", "019a", UNKNOWN.replace("-", ""), f"{UNKNOWN}0", "%7B%7D", "null"])
def test_b48_a_malformed_id_gets_an_example(service: Service, path: str, given: str) -> None:
    problem = assert_problem(service.get(path.format(given)), 404, "not_found")
    assert "is not a valid id. Use an id as the API returns it: a UUID, such as" in problem["detail"]


METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "PROPFIND", "X")


def allowed(path: str) -> set[str]:
    """Of the endpoints that the path leads to: `/things/import` is one of its own, and no thing."""
    shapes = {endpoint: re.sub("<uuid:[^>]+>", UNKNOWN, endpoint.path) for endpoint in ENDPOINTS}
    found = [endpoint for endpoint, shape in shapes.items() if shape == path] or [
        endpoint for endpoint, shape in shapes.items() if re.fullmatch(re.sub("<[^>]+>", "[^/]+", shape), path)
    ]
    methods = {endpoint.method for endpoint in found}
    return methods | ({"HEAD"} if "GET" in methods else set())


@pytest.mark.usefixtures("untouched")
@pytest.mark.parametrize(
    "path", [pytest.param(path, id=f"B49-{path}") for path in sorted({endpoint.path for endpoint in ENDPOINTS})]
)
def test_a_method_that_the_path_does_not_have(service: Service, path: str) -> None:
    path = re.sub("<uuid:[^>]+>", UNKNOWN, path)
    for method in METHODS:
        if method not in allowed(path):
            response = service.client.open(PREFIX + path, method=method, json=SINGLE)
            assert_problem(response, 405, "method_not_allowed")
            assert set(response.headers["Allow"].split(", ")) == allowed(path)


@pytest.mark.usefixtures("untouched")
@pytest.mark.parametrize(
    "query",
    [
        pytest.param(query, id=f"B49-{query}")
        for query in (
            "limit=0",
            "limit=1001",
            "limit=ten",
            "limit=",
            "limit=1&limit=2",
            "limit=9999999999999999999999",
            "limit=" + "1" * 5000,
            "cursor=x",
            "cursor=%00",
            "cursor=%ff",
            "cursor=" + "A" * 4000,
            "lmit=5",
        )
    ],
)
@pytest.mark.parametrize("path", ["/sends", "/messages", "/groups", "/balance/transactions"])
def test_an_invalid_query(service: Service, path: str, query: str) -> None:
    assert_problem(service.get(f"{path}?{query}"), 400, "validation_failed")


@pytest.mark.usefixtures("untouched")
def test_b50_a_request_id_that_could_break_a_header_is_replaced(service: Service) -> None:
    for given in ("a b", "x" * 65, "é", "<script>", ""):
        response = service.client.get(f"{PREFIX}/nothing", headers={"X-Request-Id": given})
        assert response.headers["X-Request-Id"].startswith("req_")
        assert_problem(response, 404, "not_found")


PAGED = [
    each.path
    for each in ENDPOINTS
    if each.method == "GET" and "<" not in each.path and each.query is not None and "cursor" in each.query().fields
]


def forged(place: str) -> str:
    return base64.urlsafe_b64encode(place.encode()).decode().rstrip("=")


@pytest.mark.parametrize("path", PAGED)
@pytest.mark.parametrize(
    "place",
    [
        pytest.param("12345678|\0|", id="NUL-of-suppressions"),
        pytest.param('["\\u0000", "", "", "", ""]', id="NUL"),
        pytest.param('["\\ud800", "", "", "", ""]', id="half-a-pair"),
        pytest.param("[" * 500, id="brackets"),
        pytest.param("[" * 5_000, id="many-brackets"),
        pytest.param("\x7f", id="control"),
        pytest.param("9" * 30, id="number"),
    ],
)
def test_a_forged_cursor_causes_no_internal_error(service: Service, path: str, place: str) -> None:
    response = service.get(f"{path}?cursor={forged(place)}")
    assert response.status_code in (200, 400), response.text
