"""Sending to a group."""

from typing import Any
from uuid import UUID

from shared.audit.check import audit
from shared.contacts.groups import add_contacts, delete_group, remove_contacts
from shared.contacts.suppressions import suppress
from tests.harness.service import Service
from tests.harness.times import ahead
from worker.jobs.expand import expand


def phones(count: int, first: int = 255700000000) -> list[str]:
    return [str(first + index) for index in range(count)]


def send_group(service: Service, group: str, **more: object) -> dict[str, Any]:
    response = service.post("/sms/send-group", sender_id="ACME", group_id=group, message="Hi", **more)
    assert response.status_code == 200, response.json
    return dict(response.json)


def test_a_group_of_many_pages(service: Service) -> None:
    service = Service(service.engine, credits=30_000)
    group = service.new_group(phones(20_500, 255710000000))
    response = send_group(service, group)
    service.deliver_receipts()
    assert service.counts(response["send_id"]) == {"submitted": 20_500, "accepted": 20_500, "delivered": 20_500}
    assert service.get("/balance").json["balance"] == 30_000 - 20_500


def test_positions_beyond_32_bits(service: Service) -> None:
    group = service.new_group(phones(2, 255720000000))
    service.execute("UPDATE contact_group SET last_position = 5000000000 WHERE id = :id", id=group)
    service.transact(add_contacts, UUID(group), phones(3, 255720000002))
    made = scheduled(service, group)
    service.transact(suppress, service.account_id, "255720000003", "manual")
    service.transact(remove_contacts, UUID(group), ["255720000004"])
    make_due(service, made)
    service.sweep()
    service.deliver_receipts()
    assert service.counts(made)["delivered"] == 3
    assert len(service.get(f"/groups/{group}/contacts?limit=2").json["data"]) == 2
    assert audit(service.engine, full=True) == []


def scheduled(service: Service, group: str) -> str:
    """A group send that is accepted, and not due before it is told."""
    return str(send_group(service, group, send_at=ahead())["send_id"])


def make_due(service: Service, send: str) -> None:
    service.execute("UPDATE send SET send_at = now() WHERE id = :id", id=send)
    service.sweep()


def test_a_contact_added_later_gets_no_message_and_a_removed_one_is_dropped(service: Service) -> None:
    group = service.new_group(phones(10, 255720000000))
    send = scheduled(service, group)
    service.transact(add_contacts, UUID(group), ["255729999999"])
    service.transact(remove_contacts, UUID(group), ["255720000003"])
    make_due(service, send)
    given = service.submitted()
    assert "255729999999" not in given
    assert "255720000003" not in given
    assert service.counts(send) == {"submitted": 10, "accepted": 9, "removed": 1, "sent": 9}
    assert service.get("/balance").json == service.get("/balance").json | {"balance": 991, "reserved": 0}


def test_a_group_deleted_after_acceptance_is_still_sent(service: Service) -> None:
    group = service.new_group(phones(5, 255730000000))
    send = scheduled(service, group)
    service.transact(delete_group, UUID(group))
    make_due(service, send)
    assert service.counts(send)["sent"] == 5
    again = service.post("/sms/send-group", sender_id="ACME", group_id=group, message="Hi")
    assert (again.status_code, again.json["code"]) == (404, "group_not_found")


def test_canceling_during_the_expansion_releases_all_credits(service: Service) -> None:
    service = Service(service.engine, credits=50_000)
    send = scheduled(service, service.new_group(phones(20_000, 255750000000)))
    service.execute("UPDATE send SET state = 'expanding', send_at = now() WHERE id = :id", id=send)
    assert expand(service.engine)
    assert service.post(f"/sends/{send}/cancel").json["status"] == "canceled"
    service.sweep()
    assert service.counts(send) == {"submitted": 20_000, "accepted": 20_000, "canceled": 20_000}
    assert service.get("/balance").json["balance"] == 50_000
