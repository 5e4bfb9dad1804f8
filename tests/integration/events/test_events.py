"""Every change of a message is written as an event, once, in the transaction that makes it, if the account listens."""

from collections import Counter
from uuid import UUID

import pytest
from sqlalchemy import text

from shared.accounts.top_ups import reverse_top_up, top_up
from shared.doubts.resolution import expire_doubts
from shared.events import stream
from shared.health.events import events_finding
from shared.ids import message_id
from shared.outbox import listen
from tests.harness.deliveries import wait_for_others
from tests.harness.service import Service
from tests.harness.times import ahead

ROWS = text("SELECT type, send_id, batch_id, indexes, error, data FROM event WHERE account_id = :account ORDER BY id")


@pytest.fixture
def heard(service: Service) -> Service:
    """The service, its account listening."""
    listen(service.engine, service.account_id)
    return service


def of_messages(service: Service) -> Counter[tuple[str, UUID, str | None]]:
    """Type, message and error of every event of a message, and how often it was written."""
    rows = service.execute(ROWS, account=service.account_id)
    return Counter(
        (row.type, message_id(row.batch_id, index), row.error) for row in rows if row.indexes for index in row.indexes
    )


def others(service: Service) -> list[tuple[str, UUID | None, object]]:
    """Type, send and data of every other event."""
    rows = service.execute(ROWS, account=service.account_id)
    return [(row.type, row.send_id, row.data) for row in rows if row.indexes is None]


def test_nothing_is_written_for_an_account_that_does_not_listen(heard: Service) -> None:
    quiet = heard.new_account("quiet", 100)
    heard.bulk(["254711000001", "254711000002"], token=heard.new_token(quiet))
    heard.deliver_receipts()
    assert not heard.execute(ROWS, account=quiet)
    assert not of_messages(heard)


def test_a_list_is_packed_and_each_outcome_is_one_event(heard: Service) -> None:
    phones = [f"2547110001{n:02d}" for n in range(20)] + ["99902000001", "99908000001", "99906000001", "99907000001"]
    response = heard.bulk(phones).json
    heard.deliver_receipts()
    ids = {entry["phone"]: UUID(entry["message_id"]) for entry in response["messages"]}
    received = of_messages(heard)
    assert set(received.values()) == {1}
    by_phone = {phone: {type for type, message, _ in received if message == ids[phone]} for phone in phones}
    assert by_phone["99902000001"] == {"message.failed"}
    assert by_phone["99906000001"] == {"message.in_doubt"}
    for phone in {*phones} - {"99902000001", "99906000001"}:
        assert by_phone[phone] == {"message.sent", "message.delivered"}
    rows = heard.execute(ROWS, account=heard.account_id)
    assert max(len(row.indexes) for row in rows if row.type == "message.sent") >= 20
    heard.execute("UPDATE doubt SET expires_at = now() - interval '1 hour'")
    expire_doubts(heard.engine, 0)
    assert of_messages(heard)["message.expired", ids["99906000001"], "no_response"] == 1


def test_canceling_writes_one_event_per_message_and_one_for_the_send(heard: Service) -> None:
    response = heard.bulk(["254711000001", "254711000002"], send_at=ahead()).json
    for _ in range(2):
        heard.post(f"/sends/{response['send_id']}/cancel")
    ids = [UUID(entry["message_id"]) for entry in response["messages"]]
    assert of_messages(heard) == {("message.canceled", message, None): 1 for message in ids}
    assert others(heard) == [("send.canceled", UUID(response["send_id"]), None)]


def test_an_expired_message_writes_an_event_and_its_send_is_completed(heard: Service) -> None:
    response = heard.bulk(["254711000001"], send_at=ahead()).json
    heard.execute("UPDATE send SET expires_at = now() WHERE id = :id", id=response["send_id"])
    heard.sweep()
    assert of_messages(heard) == {("message.expired", UUID(response["messages"][0]["message_id"]), None): 1}
    assert others(heard) == [("send.completed", UUID(response["send_id"]), None)]


def test_a_phone_that_opted_out_meanwhile_gets_a_rejected_event(heard: Service) -> None:
    response = heard.bulk(["254711000001", "254711000002"], send_at=ahead()).json
    values = {"account": heard.account_id}
    heard.execute("INSERT INTO suppression VALUES (:account, 254711000002, 'STOP')", **values)
    heard.execute("UPDATE send SET send_at = now()")
    heard.execute("UPDATE batch SET due_at = now() WHERE state = 'waiting'")
    heard.sweep()
    ids = [UUID(entry["message_id"]) for entry in response["messages"]]
    assert of_messages(heard) == {
        ("message.sent", ids[0], None): 1,
        ("message.rejected", ids[1], "suppressed"): 1,
    }


def low_balances(service: Service) -> list[object]:
    return [data for type, _, data in others(service) if type == "balance.low"]


def test_a_low_balance_writes_one_event_per_crossing(heard: Service) -> None:
    heard.bulk([f"254711{place:06d}" for place in range(900)])
    assert low_balances(heard) == []
    heard.send()
    heard.send()
    assert low_balances(heard) == [{"balance": 99, "low_balance_threshold": 100}]
    heard.transact(top_up, heard.account_id, 2, "test", "more")
    heard.send()
    assert len(low_balances(heard)) == 2


def test_the_reversal_of_a_top_up_that_makes_the_balance_low_writes_an_event(heard: Service) -> None:
    for key, credits in (("small", 10), ("large", 950)):
        heard.transact(top_up, heard.account_id, credits, "test", key)
    heard.bulk([f"254711{place:06d}" for place in range(901)])
    heard.transact(reverse_top_up, heard.account_id, "small", 10, "A mistake.")
    assert low_balances(heard) == []
    heard.transact(reverse_top_up, heard.account_id, "large", 950, "A mistake.")
    assert low_balances(heard) == [{"balance": 99, "low_balance_threshold": 100}]


def test_a_page_looks_at_a_bounded_number_of_events(heard: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of those that are not asked for too: the next page goes on behind them."""
    monkeypatch.setattr(stream, "MAX_ROWS", 3)
    for _ in range(2):
        heard.send()
    wait_for_others(heard)
    pages = [stream.START]
    with heard.engine.connect() as connection:
        for more in (True, False):
            page = stream.read_page(connection, heard.account_id, pages[-1], 10, {"sender.approved"})
            assert (page.events, page.more) == ([], more)
            pages.append(page.end)
    assert pages[0] < pages[1] < pages[2]


def test_events_that_wait_for_an_open_transaction_are_reported(heard: Service) -> None:
    def outcome_after(minutes: int) -> tuple[str, str]:
        heard.execute(
            text("UPDATE event SET at = at - make_interval(mins => :minutes) WHERE account_id = :account"),
            minutes=minutes,
            account=heard.account_id,
        )
        with heard.engine.connect() as connection:
            found = events_finding(connection)
        return found.outcome, found.detail[:17]

    with heard.engine.connect() as forgotten, forgotten.begin():
        forgotten.execute(text("SELECT pg_current_xact_id()"))
        heard.send("254711000001")
        heard.deliver_receipts()
        assert outcome_after(5) == ("ok", "readable")
        assert outcome_after(15) == ("wrong", "none of the last ")
    wait_for_others(heard)
    assert outcome_after(0) == ("ok", "readable")
