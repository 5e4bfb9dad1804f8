"""Lists that find what is looked for however much is newer, and counts of errors."""

from sqlalchemy import text

from shared.accounts.category_rules import set_quiet_hours
from shared.db.connection import transaction
from shared.inbound import Inbound, store
from tests.harness.service import Service
from tests.harness.times import ahead

NUMBER = "254204880002"


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


def test_errors_that_are_no_longer_stored_are_counted_without_a_code(service: Service) -> None:
    send = service.bulk(["254711000001"], send_at=ahead()).json["send_id"]
    with service.engine.begin() as connection:
        connection.execute(text("UPDATE send SET failed = 1 WHERE id = :send"), {"send": send})
    assert service.get(f"/sends/{send}/errors").json["data"] == [{"status": "failed", "code": None, "count": 1}]


def test_groups_and_sender_ids_are_found_by_a_part_of_their_name(service: Service) -> None:
    for name in ("Guests of May", "100% guests", "Staff"):
        service.post("/groups", name=name)
    for search, count in (("GUEST", 2), ("0%", 1), ("%", 1), ("_", 0), ("nobody", 0)):
        assert len(service.get("/groups?" + f"search={search}".replace("%", "%25")).json["data"]) == count, search
    service.post("/sender-ids", sender_id="SHOP")
    found = service.get("/sender-ids?search=sho").json["data"]
    assert [each["sender_id"] for each in found] == ["SHOP"]
    assert service.get("/sender-ids?search=sho&status=approved").json["data"] == []


def test_the_newest_message_of_each_phone(service: Service) -> None:
    with service.engine.begin() as connection:
        connection.execute(
            text("INSERT INTO sender_id (account_id, sender_id, state) VALUES (:account, :number, 'approved')"),
            {"account": service.account_id, "number": NUMBER},
        )
    for phone, words in (("254711000001", "one"), ("254711000002", "two"), ("254711000001", "three")):
        with transaction(service.engine) as connection:
            store(connection, "simulator", [Inbound(f"+{phone}", f"+{NUMBER}", words)])
    assert [each["message"] for each in service.get("/inbound?latest=true").json["data"]] == ["three", "two"]
    assert len(service.get("/inbound?latest=false").json["data"]) == 3


def test_a_quote_tells_the_rules_of_the_account_and_of_the_send(service: Service) -> None:
    with service.engine.begin() as connection:
        set_quiet_hours(connection, service.account_id, "marketing", (21 * 60, 8 * 60))
    body = {"sender_id": "ACME", "phones": ["254711000001"], "message": "Hi", "category": "marketing"}
    quote = service.post("/sms/quote", **body).json
    assert (quote["quiet_hours"], quote["stop_if"]) == ({"from": "21:00", "until": "08:00"}, None)
    own = {"quiet_hours": {"from": "22:00", "until": "07:00"}, "stop_if": {"failed_share": 0.2, "over": 50}}
    quote = service.post("/sms/quote", **body, **own).json
    assert {name: quote[name] for name in own} == own
