"""What another account has changes nothing of what this one sees or may do."""

from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import text

from api.http import bounded_queries
from shared.events.stream import read_events
from shared.inbound import Inbound, store
from shared.messages import search
from tests.harness.service import Service
from tests.harness.times import ahead
from worker.webhooks.prune import prune

PHONE = "254711000000"


class Two:
    """Two accounts of one installation."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.other_id = service.new_account("other")
        self.other = service.new_token(self.other_id)

    def of_other(self, path: str, **body: Any) -> dict[str, Any]:
        """What the other account does."""
        response = self.service.post(path, token=self.other, **body)
        assert response.status_code == 200, response.text
        return dict(response.json)

    def send_of_other(self, **more: Any) -> str:
        """A send of the other account to the same phone."""
        body = {"sender_id": "ACME", "phone": PHONE, "message": "Hi", **more}
        return str(self.of_other("/sms/send", **body)["send_id"])


@pytest.fixture
def two(service: Service) -> Two:
    return Two(service)


def test_a_backlog_is_the_accounts_own(two: Two) -> None:
    two.send_of_other(send_at=ahead())
    group = two.of_other("/groups", name="theirs")["group_id"]
    two.of_other(f"/groups/{group}/contacts", contacts=[PHONE, "254711000001"])
    two.of_other("/sms/send-group", sender_id="ACME", group_id=group, message="Hi", send_at=ahead())
    assert two.service.get("/limits", token=two.other).json["backlog_messages"] == 3
    mine = two.service.get("/limits").json
    assert (mine["backlog_messages"], mine["backlog_limited_by"], mine["backlog_eta"]) == (0, None, None)


def test_sends_are_searched_among_the_accounts_own(two: Two, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded_queries, "MAX_ROWS_EXAMINED", 5)
    mine = two.service.send(reference="mine").json["send_id"]
    for _ in range(10):
        two.send_of_other()
    found = two.service.get("/sends?reference=mine").json
    assert ([each["send_id"] for each in found["data"]], found["next_cursor"]) == ([mine], None)


def test_messages_are_searched_among_the_accounts_own(two: Two, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "MAX_SENDS", 5)
    mine = two.service.send().json["message_id"]
    for _ in range(10):
        two.send_of_other()
    found = two.service.get("/messages").json
    assert ([each["message_id"] for each in found["data"]], found["next_cursor"]) == ([mine], None)


def test_a_cursor_of_another_account_gives_an_empty_page(two: Two) -> None:
    mine = two.service.send().json["message_id"]
    for _ in range(3):
        two.send_of_other()
    cursor = two.service.get("/messages?limit=1", token=two.other).json["next_cursor"]
    assert cursor is not None
    assert two.service.get(f"/messages?cursor={cursor}").json["data"] == []
    assert two.service.get("/messages").json["data"][0]["message_id"] == mine


def test_callbacks_of_another_account_are_not_listed(two: Two) -> None:
    two.send_of_other(callback_url="https://receiver.example/theirs")
    assert two.service.get("/webhooks").json["data"] == []
    two.service.send(callback_url="https://receiver.example/mine")
    assert [each["url"] for each in two.service.get("/webhooks").json["data"]] == [None]


def test_an_event_of_another_account_is_refused_as_a_starting_point(two: Two) -> None:
    webhook = two.of_other("/webhooks", url="https://receiver.example/theirs")["webhook_id"]
    event = two.of_other(f"/webhooks/{webhook}/test")["event_id"]
    assert two.service.get(f"/events?after={event}", token=two.other).status_code == 200
    refused = two.service.get(f"/events?after={event}")
    assert (refused.status_code, refused.json["code"]) == (400, "validation_failed")


def test_pulling_keeps_no_other_account_listening(two: Two) -> None:
    for token in (two.service.token, two.other):
        assert two.service.get("/events", token=token).status_code == 200
    listeners = text("SELECT account_id FROM listener WHERE account_id >= :mine")
    two.service.execute("UPDATE listener SET pulled_at = pulled_at - interval '9 days'")
    assert len(two.service.execute(listeners, mine=two.service.account_id)) == 2
    two.service.get("/events")
    prune(two.service.engine)
    left = two.service.scalars(listeners, mine=two.service.account_id)
    assert left == [two.service.account_id]


def test_a_later_message_to_another_account_hides_none(two: Two) -> None:
    for account in (two.service.account_id, two.other_id):
        number = two.service.approve(account, f"2782{account:07}")
        two.service.transact(store, "main", [Inbound(PHONE, number, "Hello")])
    assert [each["message"] for each in two.service.get("/inbound?latest=true").json["data"]] == ["Hello"]


def test_an_event_is_read_for_its_account_alone(two: Two) -> None:
    webhook = two.of_other("/webhooks", url="https://receiver.example/theirs")["webhook_id"]
    event = UUID(two.of_other(f"/webhooks/{webhook}/test")["event_id"])
    assert [each.id for each in two.service.transact(read_events, two.other_id, [event])] == [event]
    assert two.service.transact(read_events, two.service.account_id, [event]) == []
