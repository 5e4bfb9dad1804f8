"""Sending to a list."""

from tests.harness.service import Service

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
