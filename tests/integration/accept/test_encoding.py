"""What makes a text UCS-2: shown with the quote, the send and the refusal."""

from typing import Any

import pytest

from tests.harness.service import Service

PHONES = ["254733000001", "254733000002", "254733000003"]
CURLY = "It\u2019s ready \u2013 come" + " soon" * 20
PLAIN = CURLY.replace("\u2019", "'").replace("\u2013", "-")
CAUSES = [
    {"index": 2, "char": "\u2019", "codepoint": "U+2019", "replacement": "'"},
    {"index": 11, "char": "\u2013", "codepoint": "U+2013", "replacement": "-"},
]


def to(service: Service, path: str) -> dict[str, Any]:
    """A body for the path, to three recipients but for a single send."""
    own: dict[str, Any] = {"phone": PHONES[0]}
    if path == "/sms/send-group":
        own = {"group_id": service.new_group(PHONES)}
    elif path != "/sms/send":
        own = {"phones": PHONES}
    return {"sender_id": "ACME", "message": CURLY, **own}


@pytest.mark.parametrize("path", ["/sms/send", "/sms/send-bulk", "/sms/send-group", "/sms/quote"])
def test_a_ucs_2_text_is_answered_with_its_causes_and_both_prices(service: Service, path: str) -> None:
    body = to(service, path)
    recipients = 1 if path == "/sms/send" else 3
    response = service.post(path, **body).json
    assert response["cost"] == 2 * recipients
    assert response["encoding"] == {
        "name": "ucs2",
        "cause": CAUSES,
        "cause_count": 2,
        "changed": [],
        "changed_count": 0,
        "gsm7_alternative": {"text": PLAIN, "segments": 1, "cost": recipients},
    }
    taken = service.post(path, **body, on_unicode="transliterate").json
    assert (taken["cost"], taken["segments"]["encoding"]) == (recipients, "gsm7")
    assert (taken["encoding"]["name"], taken["encoding"]["changed"]) == ("gsm7", CAUSES)
    assert (taken["encoding"]["cause"], taken["encoding"]["gsm7_alternative"]) == ([], None)
    assert "encoding" not in service.post(path, **{**body, "message": "Hello"}).json
    assert "encoding" not in service.post(path, **{**body, "message": "Hello"}, on_unicode="transliterate").json


@pytest.mark.parametrize("path", ["/sms/send", "/sms/send-bulk", "/sms/send-group", "/sms/quote"])
def test_a_refusal_has_the_same_causes(service: Service, path: str) -> None:
    refused = service.post(path, **to(service, path), on_unicode="reject")
    response = refused.get_json(force=True)
    assert (refused.status_code, response["code"]) == (422, "unicode_rejected")
    recipients = 1 if path == "/sms/send" else 3
    assert response["encoding"]["cause"] == CAUSES
    assert response["encoding"]["gsm7_alternative"] == {"text": PLAIN, "segments": 1, "cost": recipients}
    assert "Character 3 of the message (U+2019) is not in GSM-7, and 1 more." in response["detail"]
    assert service.get("/balance").json["balance"] == 1000


def test_twenty_causes_are_shown_and_all_are_counted(service: Service) -> None:
    encoding = service.send(message="Ж" * 65).json["encoding"]
    assert (len(encoding["cause"]), encoding["cause_count"]) == (20, 65)


def test_with_placeholders_only_the_message_itself_gives_causes(service: Service) -> None:
    phones = [{"phone": PHONES[0], "variables": {"name": "Ann"}}, {"phone": PHONES[1], "variables": {"name": "Жан"}}]
    encoding = service.bulk(phones, "Hi {{name}}\u2019").json["encoding"]
    assert ([cause["index"] for cause in encoding["cause"]], encoding["gsm7_alternative"]) == ([11], None)
    by_values = service.bulk(phones, "Hi {{name}}").json["encoding"]
    assert (by_values["name"], by_values["cause"], by_values["cause_count"]) == ("ucs2", [], 0)


def test_a_repeated_request_gets_the_same_response_and_nothing_of_the_text_is_kept(service: Service) -> None:
    headers = {"Idempotency-Key": "encoding"}
    first, again = (service.bulk(PHONES, CURLY, headers=headers) for _ in range(2))
    assert again.headers["Idempotency-Replayed"] == "true"
    assert again.json == first.json
    stored = service.scalar("SELECT response FROM idempotency WHERE key = 'encoding'")
    assert "ready" not in stored and "encoding" not in stored.replace('"encoding":"ucs2"', "")
