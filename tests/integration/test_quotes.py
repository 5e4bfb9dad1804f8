"""A quote holds its price for the same request."""

from uuid import UUID

from sqlalchemy import text

from shared.contacts import add_contacts
from tests.integration.service import Service

PHONES = ["254744000001", "254744000002"]
BODY = {"sender_id": "ACME", "phones": PHONES, "message": "Hi", "reference": "r"}


def test_it_works(service: Service) -> None:
    quote = service.post("/sms/quote", **BODY).json
    assert quote["quote_expires_at"].endswith("Z")
    answer = service.post("/sms/send-bulk", **BODY, quote_id=quote["quote_id"])
    assert (answer.status_code, answer.json["cost"]) == (200, quote["cost"])


def test_of_another_request(service: Service) -> None:
    quote = service.post("/sms/quote", **BODY).json["quote_id"]
    other = service.post("/sms/send-bulk", **{**BODY, "message": "Ho"}, quote_id=quote)
    assert (other.status_code, other.json["code"]) == (422, "quote_mismatch")
    assert service.get("/balance").json["balance"] == 1000


def test_one_that_is_over_unknown_or_another_accounts(service: Service) -> None:
    quote = service.post("/sms/quote", **BODY).json["quote_id"]
    stranger = service.new_token(service.new_account("other"))
    kept = service.post("/sms/send-bulk", **BODY, quote_id=quote, headers={"Idempotency-Key": "k"})
    with service.engine.begin() as connection:
        connection.execute(text("UPDATE quote SET expires_at = now() WHERE id = :id"), {"id": quote})
    again = service.post("/sms/send-bulk", **BODY, quote_id=quote, headers={"Idempotency-Key": "k"})
    assert (again.status_code, again.json) == (200, kept.json)
    for quote_id, token in ((quote, None), (str(UUID(int=7)), None), (quote, stranger)):
        answer = service.post("/sms/send-bulk", **BODY, quote_id=quote_id, token=token)
        assert (answer.status_code, answer.json["code"]) == (409, "quote_expired")
    assert service.get("/balance").json["balance"] == 998


def test_a_group_that_grew_costs_more_than_was_quoted(service: Service) -> None:
    group = service.new_group(PHONES)
    body = {"sender_id": "ACME", "group_id": group, "message": "Hi"}
    quote = service.post("/sms/quote", **body).json["quote_id"]
    with service.engine.begin() as connection:
        add_contacts(connection, UUID(group), ["254744000003"])
    answer = service.post("/sms/send-group", **body, quote_id=quote)
    assert (answer.status_code, answer.json["code"]) == (409, "quote_changed")
    assert (answer.json["required"], answer.json["quoted"]) == (3, 2)
    assert service.get("/balance").json["balance"] == 1000


def test_what_became_cheaper_costs_less(service: Service) -> None:
    quote = service.post("/sms/quote", **BODY).json["quote_id"]
    service.post("/suppressions", phones=PHONES[:1])
    service.send()  # the API looks whether anybody is on the list once a second
    with service.engine.begin() as connection:
        connection.execute(text("SELECT pg_sleep(1.1)"))
    answer = service.post("/sms/send-bulk", **BODY, quote_id=quote)
    assert (answer.status_code, answer.json["cost"]) == (200, 1)
