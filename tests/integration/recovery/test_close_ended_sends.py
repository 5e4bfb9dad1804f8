"""Closing what is left of sends that have expired."""

from collections.abc import Callable
from datetime import timedelta
from uuid import UUID

import pytest
from sqlalchemy import text

import worker.jobs.expand as expansion
from shared.audit.check import audit
from shared.contacts.groups import remove_contacts
from tests.harness.service import Service
from tests.harness.times import ahead
from tests.integration.accept.test_group import phones, scheduled
from worker.jobs.expand import expand
from worker.recovery.close_ended_sends import close_ended_sends

PAGE = 4
STARTS = text("UPDATE send SET state = 'expanding', send_at = NULL WHERE id = :send")
EXPIRES = text("UPDATE send SET expires_at = clock_timestamp() WHERE id = :send")
HAS_PAGES_LEFT = text("SELECT expanded_to IS NOT NULL, unexpanded FROM send WHERE id = :send")
FAILED = text(
    "INSERT INTO job_failure (kind, subject, account_id, failures, error, failed_at, retry_at)"
    " SELECT 'closing', id, account_id, 1, 'x', created_at + :at - interval '1 hour', created_at + :at FROM send"
    " WHERE id = :send"
)


def without_the_last_contact(service: Service) -> str:
    """A send to a page of contacts, and to one that is removed before its page is reached."""
    made = phones(PAGE + 1, 254770000100)
    group = service.new_group(made)
    service.transact(remove_contacts, UUID(group), [int(made[-1])])
    return scheduled(service, group)


def with_placeholders(service: Service) -> str:
    """A send to a page of contacts whose texts get shorter, and to others for whom the text lacks a value."""
    group = service.new_group([])
    named, unnamed = phones(PAGE, 254770000100), phones(PAGE + 1, 254770000200)

    def store(name: str, *others: dict[str, object]) -> None:
        contacts = [*({"phone": phone, "fields": {"name": name}} for phone in named), *others]
        assert service.post(f"/groups/{group}/contacts", contacts=contacts).status_code == 200

    store("A" * 200, *({"phone": phone} for phone in unnamed))
    request = {"sender_id": "ACME", "group_id": group, "message": "Hi {{name}}", "send_at": ahead()}
    send = str(service.post("/sms/send-group", **request).json["send_id"])
    store("Al")
    return send


@pytest.mark.parametrize("failed", [None, timedelta(0)], ids=["first try", "tried before"])
@pytest.mark.parametrize("make", [without_the_last_contact, with_placeholders])
def test_a_group_that_expires_before_its_last_and_empty_page_is_completed(
    service: Service, monkeypatch: pytest.MonkeyPatch, make: Callable[[Service], str], failed: timedelta | None
) -> None:
    monkeypatch.setattr(expansion, "PAGE", PAGE)
    send = make(service)
    service.execute(STARTS, send=send)
    assert len(expand(service.engine) or ()) == 1
    service.worker.dispatcher.drain()
    assert tuple(service.row(HAS_PAGES_LEFT, send=send)) == (True, 0)
    service.execute(EXPIRES, send=send)
    if failed is not None:
        service.execute(FAILED, send=send, at=failed)
    close_ended_sends(service.engine)
    answer = service.get(f"/sends/{send}").json
    assert (answer["status"], service.counts(send)["sent"]) == ("completed", PAGE)
    assert service.get("/balance").json["reserved"] == 0
    assert audit(service.engine, full=True) == []


def test_one_that_was_paused_before_it_is_completed_too(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expansion, "PAGE", PAGE)
    send = without_the_last_contact(service)
    service.execute(STARTS, send=send)
    expand(service.engine)
    service.worker.dispatcher.drain()
    assert service.post(f"/sends/{send}/pause").json["status"] == "paused"
    service.execute(EXPIRES, send=send)
    close_ended_sends(service.engine)
    assert service.get(f"/sends/{send}").json["status"] == "completed"
