"""A response lists at most 1,000 recipients and 1,000 rejected entries, and says that there are more."""

from typing import Any

import pytest

from api.accept import placeholders
from tests.harness.service import Service

MOST = 1000
INVALID = ["0"] * MOST


def phones(count: int) -> list[str]:
    return [str(254_711_000_000 + number) for number in range(count)]


def lists(response: dict[str, Any]) -> tuple[int, Any, Any, Any]:
    """How much a response lists, and whether it says that there is more."""
    messages = response.get("messages")
    return (
        len(response["rejected"]),
        response.get("rejected_truncated"),
        None if messages is None else len(messages),
        response.get("messages_truncated"),
    )


@pytest.fixture
def rich(service: Service) -> Service:
    service.execute("UPDATE account SET available = available + 10000 WHERE id = :id", id=service.account_id)
    return service


KINDS: dict[str, dict[str, Any]] = {
    "one text": {},
    "in parts": {"canary": 5},
    "by time zone": {"category": "marketing", "quiet_hours": {"from": "21:00", "until": "07:00"}},
    "of their own": {"message": "Hi {{name|you}}", "canary": 5},
}


@pytest.mark.parametrize("options", [pytest.param(options, id=name) for name, options in KINDS.items()])
def test_a_list(rich: Service, options: dict[str, Any]) -> None:
    most = rich.bulk([*phones(MOST), *INVALID], **options).json
    assert lists(most) == (MOST, None, MOST, None)
    more = rich.bulk([*phones(MOST + 1), *INVALID, "0"], **options).json
    assert lists(more) == (MOST, True, MOST, True)
    assert (more["counts"]["accepted"], more["counts"]["invalid"]) == (MOST + 1, MOST + 1)


def test_a_list_without_a_valid_entry(rich: Service) -> None:
    for path in ("/sms/send-bulk", "/sms/quote"):
        refused = rich.post(path, sender_id="ACME", message="Hi", phones=["0"] * 101).json
        assert (refused["code"], len(refused["rejected"])) == ("no_valid_recipients", 100)
    refused = rich.post(f"/groups/{rich.new_group([])}/contacts", contacts=["0"] * 101).json
    assert (refused["code"], len(refused["rejected"])) == ("no_valid_contacts", 100)


def test_a_list_of_texts_that_differ(rich: Service) -> None:
    given = [{"phone": phone, "variables": {"name": phone}} for phone in phones(MOST + 1)]
    for count, truncated in ((MOST, None), (MOST + 1, True)):
        response = rich.bulk(given[:count], "Hi {{name}}").json
        assert lists(response) == (0, None, MOST, truncated)


def test_a_quote(rich: Service) -> None:
    body = {"sender_id": "ACME", "message": "Hi"}
    most = rich.post("/sms/quote", phones=["254711000000", *INVALID], **body).json
    assert lists(most) == (MOST, None, None, None)
    more = rich.post("/sms/quote", phones=["254711000000", *INVALID, "0"], **body).json
    assert lists(more) == (MOST, True, None, None)


@pytest.mark.parametrize("path", ["/sms/send-group", "/sms/quote"])
def test_a_group_whose_contacts_lack_a_value(rich: Service, path: str) -> None:
    group = rich.new_group(phones(MOST + 1))
    body = {"sender_id": "ACME", "message": "Hi {{name}}", "group_id": group}
    refused = rich.post(path, **body).json
    assert (refused["code"], len(refused["rejected"])) == ("no_valid_recipients", 100)
    strict = rich.post(path, **body, strict=True).json
    assert (strict["code"], len(strict["errors"]), strict["errors_total"]) == ("validation_failed", 100, 100)
    contact = {"phone": "254799000000", "fields": {"name": "Ann"}}
    assert rich.post(f"/groups/{group}/contacts", contacts=[contact]).status_code == 200
    assert lists(rich.post(path, **body).json)[:2] == (MOST, True)


def test_no_more_contacts_that_lack_a_value_are_read(rich: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(placeholders, "MAX_INLINE_ENTRIES", 3)
    body = {"sender_id": "ACME", "message": "Hi {{name}}", "group_id": rich.new_group(phones(5))}
    assert len(rich.post("/sms/send-group", **body).json["rejected"]) == 3


def test_contacts_and_suppressions(rich: Service) -> None:
    group = rich.new_group([])
    for path, name in ((f"/groups/{group}/contacts", "contacts"), ("/suppressions", "phones")):
        most = rich.post(path, **{name: ["254711000000", *INVALID]}).json
        assert lists(most) == (MOST, None, None, None), name
        more = rich.post(path, **{name: ["254711000000", *INVALID, "0"]}).json
        assert lists(more) == (MOST, True, None, None), name
