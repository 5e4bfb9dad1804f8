"""A quote holds its price for the same request."""

from uuid import UUID

from shared.accounts.category_rules import set_quiet_hours
from shared.contacts.groups import add_contacts
from tests.harness.service import Service

PHONES = ["254744000001", "254744000002"]
BODY = {"sender_id": "ACME", "phones": PHONES, "message": "Hi", "reference": "r"}


def test_it_works(service: Service) -> None:
    quote = service.post("/sms/quote", **BODY).json
    assert quote["quote_expires_at"].endswith("Z")
    response = service.post("/sms/send-bulk", **BODY, quote_id=quote["quote_id"])
    assert (response.status_code, response.json["cost"]) == (200, quote["cost"])


def test_the_quote_of_another_request_is_refused(service: Service) -> None:
    quote = service.post("/sms/quote", **BODY).json["quote_id"]
    other = service.post("/sms/send-bulk", **{**BODY, "message": "Ho"}, quote_id=quote)
    assert (other.status_code, other.json["code"]) == (422, "quote_mismatch")
    assert service.get("/balance").json["balance"] == 1000


def test_a_quote_that_is_expired_unknown_or_of_another_account_is_refused(service: Service) -> None:
    quote = service.post("/sms/quote", **BODY).json["quote_id"]
    stranger = service.new_token(service.new_account("other"))
    anothers = service.post("/sms/send-bulk", **BODY, quote_id=quote, token=stranger)
    assert (anothers.status_code, anothers.json["code"]) == (409, "quote_expired"), "while it is good for its account"
    kept = service.post("/sms/send-bulk", **BODY, quote_id=quote, headers={"Idempotency-Key": "k"})
    service.execute("UPDATE quote SET expires_at = now() WHERE id = :id", id=quote)
    again = service.post("/sms/send-bulk", **BODY, quote_id=quote, headers={"Idempotency-Key": "k"})
    assert (again.status_code, again.json) == (200, kept.json)
    for quote_id, token in ((quote, None), (str(UUID(int=7)), None), (quote, stranger)):
        response = service.post("/sms/send-bulk", **BODY, quote_id=quote_id, token=token)
        assert (response.status_code, response.json["code"]) == (409, "quote_expired")
    assert service.get("/balance").json["balance"] == 998


def test_a_group_that_grew_costs_more_than_was_quoted(service: Service) -> None:
    group = service.new_group(PHONES)
    body = {"sender_id": "ACME", "group_id": group, "message": "Hi"}
    quote = service.post("/sms/quote", **body).json["quote_id"]
    service.transact(add_contacts, UUID(group), ["254744000003"])
    response = service.post("/sms/send-group", **body, quote_id=quote)
    assert (response.status_code, response.json["code"]) == (409, "quote_changed")
    assert (response.json["required"], response.json["quoted"]) == (3, 2)
    assert service.get("/balance").json["balance"] == 1000


def test_a_repeated_quote_is_the_first_one(service: Service) -> None:
    headers = {"Idempotency-Key": "q"}
    first, again = (service.post("/sms/quote", headers=headers, **BODY) for _ in range(2))
    assert again.json == first.json
    assert again.headers["Idempotency-Replayed"] == "true"
    other = service.post("/sms/quote", headers=headers, **{**BODY, "message": "Ho"})
    assert (other.status_code, other.json["code"]) == (422, "idempotency_key_reused")
    assert (
        service.post("/sms/quote", headers={"Idempotency-Key": "r"}, **BODY).json["quote_id"] != first.json["quote_id"]
    )


def test_the_text_of_a_quote_is_kept_nowhere(service: Service) -> None:
    """A database whose texts are encrypted has none in the responses for repeated requests."""
    message = "Nobody else is to read this"
    quoted = service.post("/sms/quote", headers={"Idempotency-Key": "secret"}, **{**BODY, "message": message})
    assert quoted.json["parts"] == [message]
    stored = service.scalar("SELECT response FROM idempotency WHERE key = 'secret'")
    assert message not in stored


def test_a_quote_shows_the_rules_of_the_account_and_of_the_send(service: Service) -> None:
    service.transact(set_quiet_hours, service.account_id, "marketing", (21 * 60, 8 * 60))
    body = {"sender_id": "ACME", "phones": ["254711000001"], "message": "Hi", "category": "marketing"}
    quote = service.post("/sms/quote", **body).json
    assert (quote["quiet_hours"], quote["stop_if"]) == ({"from": "21:00", "until": "08:00"}, None)
    own = {"quiet_hours": {"from": "22:00", "until": "07:00"}, "stop_if": {"failed_share": 0.2, "min_messages": 50}}
    quote = service.post("/sms/quote", **body, **own).json
    assert {name: quote[name] for name in own} == own
