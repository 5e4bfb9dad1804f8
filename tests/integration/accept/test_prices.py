"""What a send costs by destination and category, reserved and charged to the last credit."""

import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import Engine, event

from shared.accounts.top_ups import top_up
from shared.audit.check import audit
from shared.contacts.groups import add_contacts
from shared.periodic import do_all
from tests.harness.service import Service
from tests.harness.times import ahead
from worker.jobs.erasure import erase_one
from worker.jobs.retention import forget
from worker.jobs.usage import count_one

KENYA, GERMANY, FRANCE, NOWHERE = "254711000001", "4915112345678", "33612345678", "819012345678"
LIST = (("", "254", 10), ("", "25470", 12), ("", "49", 90), ("", "33", 70), ("authentication", "254", 25))
LATER = {"send_at": ahead()}


@pytest.fixture
def service(engine: Engine) -> Iterator[Service]:
    service = Service(engine, credits=100_000)
    service.set_prices(*LIST)
    yield service
    assert audit(engine, full=True) == []


def spent(service: Service) -> tuple[int, int]:
    """What was taken from the balance, and what of it is only reserved."""
    balance = service.get("/balance").json
    return 100_000 - balance["balance"], balance["reserved"]


def test_one_message_costs_what_its_phone_and_category_cost(service: Service) -> None:
    assert service.send(KENYA).json["cost"] == 10
    assert service.send("254701000000").json["cost"] == 12, "the longest prefix counts"
    assert service.send(KENYA, category="authentication").json["cost"] == 25, "its category comes first"
    assert service.send(GERMANY, "ä" * 200).json["cost"] == 2 * 90
    assert spent(service) == (10 + 12 + 25 + 180, 0)


def test_a_phone_without_a_price_gets_nothing(service: Service) -> None:
    refused = service.send(NOWHERE)
    assert (refused.status_code, refused.json["code"]) == (403, "no_price")
    sent = service.bulk([KENYA, NOWHERE]).json
    assert [entry["code"] for entry in sent["rejected"]] == ["no_price"]
    assert spent(service) == (10, 0)
    group = service.new_group([NOWHERE])
    refused = service.post("/sms/send-group", sender_id="ACME", group_id=group, message="Hi")
    assert (refused.status_code, refused.json["code"]) == (400, "no_valid_recipients")


def test_a_list_is_reserved_exactly_and_its_response_says_what_each_country_costs(service: Service) -> None:
    phones = [KENYA, GERMANY, "254700000002", FRANCE, "254711000003"]
    sent = service.bulk(phones, **LATER).json
    assert sent["cost"] == 10 + 90 + 12 + 70 + 10
    assert sent["countries"] == [
        {"country": "DE", "messages": 1, "cost": 90},
        {"country": "FR", "messages": 1, "cost": 70},
        {"country": "KE", "messages": 3, "cost": 32},
    ]
    assert [each["phone"] for each in sent["messages"]] == phones, "in the order of the request"
    assert spent(service) == (192, 192)
    messages = service.get(f"/sends/{sent['send_id']}/messages").json["data"]
    assert {each["phone"]: each["cost"] for each in messages}[FRANCE] == 70
    assert "countries" not in service.bulk([KENYA, "254711000009"]).json, "alike in price"


def test_a_group_reserves_the_dearest_price_of_each_country_and_gives_back_the_rest(service: Service) -> None:
    phones = [f"2547{number:08}" for number in range(11_000_000, 11_000_020)]
    group = service.new_group([*phones, "254700000001", GERMANY, NOWHERE])
    quoted = service.post("/sms/quote", sender_id="ACME", group_id=group, message="Hi").json
    assert quoted["cost"] == 21 * 12 + 90
    assert quoted["countries"][0] == {"country": "KE", "messages": 21, "cost": 252}
    strict = service.post("/sms/send-group", sender_id="ACME", group_id=group, message="Hi", strict=True)
    assert (strict.status_code, strict.json["errors"][0]["code"]) == (400, "no_price")
    sent = service.post("/sms/send-group", sender_id="ACME", group_id=group, message="Hi").json
    assert (sent["cost"], sent["counts"]["accepted"]) == (342, 22)
    assert service.counts(sent["send_id"]) == {"submitted": 23, "accepted": 22, "invalid": 1, "sent": 22}
    assert spent(service) == (20 * 10 + 12 + 90, 0)
    shown = service.get(f"/sends/{sent['send_id']}").json
    assert (shown["cost"], shown["charged"], shown["segments"]) == (
        302,
        302,
        {"per_message": 1, "encoding": "gsm7", "total": 22},
    )


def test_a_group_is_counted_and_priced_at_one_moment(service: Service) -> None:
    group = service.new_group([KENYA, GERMANY])
    added = iter([[NOWHERE]])

    def grow(_: Any, __: Any, statement: str, *___: Any) -> None:
        if "last_position" in statement:
            for phones in added:
                service.transact(add_contacts, UUID(group), phones)

    event.listen(service.api_engine, "after_cursor_execute", grow)
    sent = service.post("/sms/send-group", sender_id="ACME", group_id=group, message="Hi").json
    event.remove(service.api_engine, "after_cursor_execute", grow)
    assert list(added) == []
    assert (sent["counts"]["submitted"], sent["counts"]["accepted"]) == (2, 2)


@pytest.mark.parametrize("kind", ["list", "group"])
def test_another_text_scales_each_price_and_canceling_gives_all_back(service: Service, kind: str) -> None:
    phones = [KENYA, GERMANY, "254701000000"]
    if kind == "list":
        sent = service.bulk(phones, **LATER).json
    else:
        group = service.new_group(phones)
        sent = service.post("/sms/send-group", sender_id="ACME", group_id=group, message="Hi", **LATER).json
    cost = 10 + 90 + 12 if kind == "list" else 12 + 90 + 12
    assert sent["cost"] == cost
    for message, segments in (("a" * 400, 3), ("a" * 200, 2), ("Ho", 1), ("b" * 200, 2)):
        changed = service.patch(f"/sends/{sent['send_id']}", message=message).json
        assert changed["cost"] == cost * segments
        assert spent(service) == (cost * segments, cost * segments)
        assert audit(service.engine, full=True) == []
    service.post(f"/sends/{sent['send_id']}/cancel")
    service.sweep()
    assert spent(service) == (0, 0)


def test_a_text_can_change_after_all_messages_of_one_price_were_canceled(service: Service) -> None:
    sent = service.bulk([KENYA, GERMANY], **LATER).json
    canceled = next(each["message_id"] for each in sent["messages"] if each["phone"] == GERMANY)
    assert service.post(f"/messages/{canceled}/cancel").json["cost"] == 0
    assert service.patch(f"/sends/{sent['send_id']}", message="a" * 200).status_code == 200
    assert spent(service) == (20, 20)


def test_quiet_hours_split_a_list_further_and_its_cost_stays(service: Service) -> None:
    phones = [KENYA, GERMANY, "254701000000", FRANCE]
    sent = service.bulk(phones, quiet_hours={"from": "21:00", "until": "07:00"}, category="marketing", **LATER)
    assert (sent.status_code, sent.json["cost"]) == (200, 182), sent.json
    assert [each["phone"] for each in sent.json["messages"]] == phones


def test_what_was_quoted_is_charged_whatever_is_published_meanwhile(service: Service) -> None:
    body = {"sender_id": "ACME", "phones": [KENYA, GERMANY], "message": "Hi"}
    quote = service.post("/sms/quote", **body).json
    service.set_prices(("", "", 1_000))
    assert service.post("/sms/send-bulk", **body, quote_id=quote["quote_id"]).json["cost"] == quote["cost"] == 100
    assert service.bulk([KENYA, GERMANY]).json["cost"] == 2_000


def test_an_account_has_its_own_list_and_its_sandbox_has_the_same(service: Service) -> None:
    sandbox = service.in_sandbox()
    service.set_prices(("", "", 3), name="own", account=service.account_id)
    service.set_prices(*LIST)
    assert service.send(GERMANY).json["cost"] == 3
    assert sandbox.send(GERMANY).json["cost"] == 3
    stranger = service.new_token(service.new_account("other"))
    assert service.send(GERMANY, token=stranger).json["cost"] == 90


def test_a_price_of_zero_and_the_highest_one(service: Service) -> None:
    service.set_prices(("", "254", 0), ("", "49", 10**10))
    free = service.send(KENYA).json
    assert (free["cost"], service.get(f"/messages/{free['message_id']}").json["cost"]) == (0, 0)
    refused = service.bulk([f"4915112{number:06}" for number in range(1000)])
    assert (refused.status_code, refused.json["code"], refused.json["required"]) == (402, "low_balance", 10**13)
    assert spent(service) == (0, 0)


def test_a_batch_of_more_credits_than_32_bits_hold_is_settled(service: Service) -> None:
    service.set_prices(("", "", 3_500_000))
    service.transact(top_up, service.account_id, 10**10, "rupiah", "much")
    sent = service.bulk([f"62811{number:07}" for number in range(620)]).json
    assert service.counts(sent["send_id"]) == {"submitted": 620, "accepted": 620, "sent": 620}
    assert service.get(f"/sends/{sent['send_id']}").json["charged"] == 620 * 3_500_000


def test_an_erased_phone_is_no_breach_and_its_credits_are_counted_once(service: Service) -> None:
    service.bulk([KENYA, GERMANY])
    service.deliver_receipts()
    do_all(lambda: count_one(service.engine), threading.Event())
    service.post("/erasures", phone=KENYA)
    service.execute("UPDATE usage_hour SET final = true")
    service.execute("UPDATE erasure SET due_at = now()")
    while erase_one(service.engine):
        pass
    forget(service.engine, 1, datetime.now(UTC) + timedelta(days=3))
    do_all(lambda: count_one(service.engine), threading.Event())
    usage = service.get("/usage?by=country").json["data"]
    assert sum(row["credits"] for row in usage) == 100


def test_the_cost_in_plain_text_counts_what_the_recipients_cost(service: Service) -> None:
    encoding = service.bulk([KENYA, GERMANY], "ő" * 71).json["encoding"]
    assert encoding["gsm7_alternative"]["cost"] == 100
    refused = service.bulk([KENYA, GERMANY], "ő" * 71, on_unicode="reject")
    assert refused.json["encoding"]["gsm7_alternative"]["cost"] == 100


def test_a_group_with_placeholders_costs_what_its_texts_and_prices_say(service: Service) -> None:
    group = service.new_group([KENYA, GERMANY, NOWHERE])
    service.execute("""UPDATE contact SET fields = '{"n": "Ann"}' WHERE group_id = :group""", group=group)
    sent = service.post("/sms/send-group", sender_id="ACME", group_id=group, message="Hi {{n}}").json
    assert (sent["cost"], sent["counts"]["accepted"]) == (12 + 90, 2)
    assert spent(service) == (100, 0)
    assert service.counts(sent["send_id"]) == {"submitted": 3, "accepted": 2, "invalid": 1, "sent": 2}
