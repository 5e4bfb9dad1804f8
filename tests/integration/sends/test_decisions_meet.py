"""Decisions about the same sends at the same time: the one that waits for the other sees what it has done."""

from datetime import UTC, datetime, timedelta
from threading import Thread
from typing import Any
from uuid import UUID

from sqlalchemy import text

from api.resources.sends.change import apply_changes
from shared.senders.sender_ids import decide_sender
from shared.sends.holding import hold_for_review, hold_newly_refused
from tests.harness.database import wait_until_somebody_waits
from tests.harness.service import Service
from tests.harness.threads import join_all
from tests.harness.times import ahead
from worker.recovery.close_ended_sends import close_ended_sends

PHONES = ["254755000001", "254755000002"]
STATE = text("SELECT state, held_by FROM send WHERE id = :id")
EXPIRE = text("UPDATE send SET expires_at = now() WHERE id = :id")


def sender_of(service: Service) -> str:
    """A sender ID that no other account has."""
    return f"N{service.account_id}"


def decide(service: Service, state: Any) -> None:
    service.transact(decide_sender, service.account_id, sender_of(service), state, "why")


def waiting(service: Service) -> str:
    """A send for later from that sender ID."""
    response = service.bulk(PHONES, send_at=ahead(), sender_id=sender_of(service))
    return str(response.json["send_id"])


def approved(service: Service) -> None:
    assert service.post("/sender-ids", sender_id=sender_of(service)).status_code == 200
    decide(service, "approved")


def state_of(service: Service, send: str) -> tuple[Any, ...]:
    return tuple(service.row(STATE, id=send))


def test_an_approval_does_not_release_what_is_held_for_review(service: Service) -> None:
    """After a restore of the database, its messages may have been sent before."""
    approved(service)
    send = waiting(service)
    decide(service, "suspended")
    assert state_of(service, send) == ("held", "sender_id")
    approving = Thread(target=lambda: decide(service, "approved"))
    with service.engine.begin() as connection:
        hold_for_review(connection, [UUID(send)], "restored")
        approving.start()
        wait_until_somebody_waits(service.engine)
    join_all(approving)
    assert state_of(service, send) == ("held", "operator")


def test_a_sender_id_that_is_being_approved_holds_no_sends(service: Service) -> None:
    approved(service)
    waiting(service)  # caches the approval
    decide(service, "suspended")
    late = waiting(service)
    assert state_of(service, late) == ("scheduled", None), "accepted by the cached approval"
    with service.engine.begin() as connection:
        decide_sender(connection, service.account_id, sender_of(service), "approved")
        service.transact(hold_newly_refused)
    assert state_of(service, late) == ("scheduled", None)


def test_a_send_whose_validity_is_being_extended_does_not_expire(service: Service) -> None:
    send = str(service.bulk(PHONES, send_at=ahead()).json["send_id"])
    service.execute(EXPIRE, id=send)
    closing = Thread(target=lambda: close_ended_sends(service.engine))
    with service.engine.begin() as connection:
        apply_changes(connection, UUID(send), {"expires_at": datetime.now(UTC) + timedelta(days=2)})
        closing.start()
        wait_until_somebody_waits(service.engine)
    join_all(closing)
    assert service.counts(send)["scheduled"] == 2
