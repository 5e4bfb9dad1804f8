"""Which outcome each message of a request gets."""

import json

import pytest

from tests.unit.carriers.http.test_config import preset
from worker.carriers.base import Outcome, ResponseKind
from worker.carriers.http.responses import parse_response

PHONE, OTHER = "254711000000", "254711000001"
DOUBT = Outcome(ResponseKind.IN_DOUBT, error="unreadable_answer")


@pytest.mark.parametrize(
    ("entries", "outcomes"),
    [
        ({"ATXid_1": PHONE, "ATXid_2": OTHER, "ATXid_3": PHONE}, ["ATXid_1", "ATXid_2", "ATXid_3"]),
        ({"ATXid_1": PHONE, "ATXid_2": OTHER}, ["ATXid_1", "ATXid_2", "ATXid_1"]),
        ({"ATXid_1": PHONE, "ATXid_2": OTHER, "ATXid_3": PHONE, "ATXid_4": PHONE}, [None, "ATXid_2", None]),
    ],
)
def test_messages_to_one_phone_get_its_entries_in_order(entries: dict[str, str], outcomes: list[str | None]) -> None:
    """In Africa's Talking's response. Too many entries leave the phone's messages in doubt."""
    recipients = [
        {"statusCode": 101, "number": f"+{phone}", "status": "Success", "cost": "KES 0.8000", "messageId": identity}
        for identity, phone in entries.items()
    ]
    message = "Sent to 3/3 Total Cost: KES 2.4000"
    body = json.dumps({"SMSMessageData": {"Message": message, "Recipients": recipients}}).encode()
    parsed = parse_response(preset("africastalking"), 201, False, body, [PHONE, OTHER, PHONE])
    assert parsed.outcomes == [DOUBT if each is None else Outcome(ResponseKind.ACCEPTED, each) for each in outcomes]


@pytest.mark.parametrize("status", [400, 404, 405, 413])
def test_a_refusal_that_is_no_json_is_a_gateways_and_of_no_message(status: int) -> None:
    said = parse_response(preset("twilio"), status, False, b"<html><title>Not Found</title></html>", [PHONE])
    assert said.outcomes == [Outcome(ResponseKind.FAILED, error=f"http_{status}")]
    said = parse_response(preset("twilio"), status, False, b'{"code": 21604}', [PHONE])
    assert said.outcomes == [Outcome(ResponseKind.REJECTED, error="21604")]
    said = parse_response(preset("vonage"), 422, False, b"<error/>", [PHONE])
    assert said.outcomes[0].response is ResponseKind.REJECTED, "as declared"
