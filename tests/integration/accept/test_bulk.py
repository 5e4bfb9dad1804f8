"""Sending to a list."""

from sqlalchemy import text

from shared.contacts.suppressions import suppress
from tests.harness.house import wait_until
from tests.harness.service import Service
from tests.harness.times import ahead

FIRST = 254733000000


def phones(count: int, first: int = FIRST) -> list[str]:
    return [str(first + index) for index in range(count)]


def test_it_works(service: Service) -> None:
    response = service.bulk(phones(3)).json
    assert response["counts"] == {"submitted": 3, "accepted": 3, "duplicate": 0, "invalid": 0, "suppressed": 0}
    assert response["segments"] == {"per_message": 1, "encoding": "gsm7", "total": 3}
    assert (response["cost"], response["balance"], response["group_id"]) == (3, 997, None)
    assert [message["phone"] for message in response["messages"]] == phones(3)
    service.deliver_receipts()
    assert service.counts(response["send_id"]) == {"submitted": 3, "accepted": 3, "delivered": 3}
    for message in response["messages"]:
        assert service.get(f"/messages/{message['message_id']}").json["phone"] == message["phone"]


def test_the_valid_part_is_sent_and_the_rest_is_reported(service: Service) -> None:
    response = service.bulk(["254711000000", "+254711000001", "254711000000", 7, "254711000002"]).json
    assert response["counts"] == {"submitted": 5, "accepted": 2, "duplicate": 1, "invalid": 2, "suppressed": 0}
    assert [(entry["index"], entry["code"]) for entry in response["rejected"]] == [
        (1, "invalid_phone"),
        (2, "duplicate"),
        (3, "invalid_phone"),
    ]
    assert response["rejected"][0]["suggestion"] == "254711000001"
    assert response["rejected"][1]["duplicate_of"] == 0
    assert response["cost"] == 2


def test_strict_takes_all_or_nothing(service: Service) -> None:
    response = service.bulk(["254711000000", "0712"], strict=True)
    assert response.status_code == 400
    assert response.json["errors"][0]["pointer"] == "/phones/1"
    assert service.get("/balance").json["balance"] == 1000


def test_duplicates_can_be_allowed(service: Service) -> None:
    response = service.bulk(["254711000000"] * 3, allow_duplicates=True).json
    assert response["counts"]["accepted"] == 3
    assert service.submitted()["254711000000"] >= 3


def test_more_than_a_thousand_are_listed_behind_the_url(service: Service) -> None:
    service = Service(service.engine, credits=5000)
    response = service.bulk(phones(2500, 254744000000)).json
    assert len(response["messages"]) == 1000
    assert response["messages_truncated"] is True
    seen, cursor = [], ""
    while cursor is not None:
        page = service.get(f"/sends/{response['send_id']}/messages?limit=700{cursor and '&cursor=' + cursor}").json
        seen += [message["phone"] for message in page["data"]]
        cursor = page["next_cursor"]
    assert seen == phones(2500, 254744000000)
    lines = service.get(f"/sends/{response['send_id']}/messages", headers={"Accept": "text/csv"}).text.splitlines()
    assert len(lines) == 2501


def test_a_phone_that_opts_out_before_hand_over_gets_no_message_and_costs_nothing(service: Service) -> None:
    response = service.bulk(phones(3, 254766000000), send_at=ahead()).json
    with service.engine.begin() as connection:
        suppress(connection, service.account_id, "254766000002", "STOP")
        for table, column, key in (("send", "send_at", "id"), ("batch", "due_at", "send_id")):
            due = text(f"UPDATE {table} SET {column} = now() WHERE {key} = :send")
            connection.execute(due, {"send": response["send_id"]})
    service.sweep()
    assert "254766000002" not in service.submitted()
    assert service.counts(response["send_id"]) == {"submitted": 3, "accepted": 3, "sent": 2, "rejected": 1}
    assert service.get("/balance").json["balance"] == 998


def test_every_outcome_in_one_send_adds_up(service: Service) -> None:
    magic = [f"999{outcome:02d}{number:04d}" for outcome in range(1, 11) for number in range(5)]
    response = service.bulk(phones(50, 254777000000) + magic).json
    service.deliver_receipts()

    def nothing_waits() -> bool:
        service.sweep()
        return "queued" not in service.counts(response["send_id"])

    wait_until(nothing_waits, 60, "the retried messages")
    service.deliver_receipts()
    counts = service.counts(response["send_id"])
    assert counts == {
        "submitted": 100,
        "accepted": 100,
        "delivered": 75,
        "undelivered": 5,
        "failed": 10,
        "sent": 5,
        "in_doubt": 5,
    }
    balance = service.get("/balance").json
    assert (balance["balance"], balance["reserved"]) == (1000 - 85 - 5, 5)
    given = service.submitted()
    assert all(given[phone] == 1 for phone in magic if phone in given)
