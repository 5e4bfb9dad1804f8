"""Sends in progress, found however much is newer, and counts of errors."""

from sqlalchemy import text

from tests.harness.service import Service
from tests.harness.times import ahead


def start(service: Service, send: str) -> None:
    """As if a worker had begun the send."""
    with service.engine.begin() as connection:
        connection.execute(text("UPDATE send SET state = 'sending', send_at = NULL WHERE id = :send"), {"send": send})


def test_sends_in_progress_are_bulk_and_group_sends_that_are_due(service: Service) -> None:
    running, waiting = (service.bulk(["254711000001"], send_at=ahead()).json["send_id"] for _ in range(2))
    single = service.send(send_at=ahead()).json["send_id"]
    start(service, running)
    start(service, single)
    service.bulk(["254711000002"])
    found = [each["send_id"] for each in service.get("/sends?in_progress=true").json["data"]]
    assert found == [running]
    assert len(service.get("/sends?in_progress=false").json["data"]) == 4
    assert service.get("/sends?in_progress=true&status=paused").json["data"] == []
    assert service.get("/sends?in_progress=yes").status_code == 400
    assert waiting not in found


def test_errors_of_a_send_are_counted_by_status_and_code(service: Service) -> None:
    send = service.bulk(["254711000001", "999020000001", "999020000002"]).json["send_id"]
    counted = service.get(f"/sends/{send}/errors").json["data"]
    (failed,) = counted
    assert (failed["status"], failed["count"]) == ("failed", 2)
    assert service.get(f"/sends/{service.bulk(['254711000001']).json['send_id']}/errors").json["data"] == []


def test_rejected_recipients_of_a_send_are_listed_as_its_response_did(service: Service) -> None:
    sent = service.bulk(["254711000001", "0711", "254711000001"]).json
    listed = service.get(f"/sends/{sent['send_id']}/rejected").json["data"]
    assert listed == sent["rejected"] and [each["code"] for each in listed] == ["invalid_phone", "duplicate"]
    all_accepted = service.bulk(["254711000001"]).json["send_id"]
    assert service.get(f"/sends/{all_accepted}/rejected").json["data"] == []


def test_rejected_recipients_of_a_group_are_listed(service: Service) -> None:
    group = service.new_group(["254711000001"])
    contacts = [{"phone": "254711000002", "fields": {"name": "Ann"}}]
    assert service.post(f"/groups/{group}/contacts", contacts=contacts).status_code == 200
    body = {"sender_id": "ACME", "group_id": group, "message": "Hi {{name}}"}
    sent = service.post("/sms/send-group", **body).json
    (listed,) = service.get(f"/sends/{sent['send_id']}/rejected").json["data"]
    assert (listed["phone"], listed["code"]) == ("254711000001", "missing_variable")
