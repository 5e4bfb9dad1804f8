"""How to create each thing that an account may own, by the path variable that names it, for tests of who may see it.

A route with a new variable needs a line here (tests/unit/project/test_guards.py asks for it). It is then tested with
the rest.
"""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import text

from shared.ids import new_id
from shared.people.invitations import invite
from tests.harness.pages import every
from tests.harness.people import a_person
from tests.harness.service import PREFIX, Service
from tests.harness.times import ahead

PHONE, OPTED_OUT = "254799123456", "254799654321"
FAILED = text(
    """
    INSERT INTO delivery (webhook_id, event_id, type, state, attempts, url)
    VALUES (:webhook, :event, 'webhook.test', 'failed', 1, 'https://receiver-of-a-stranger.example/hook')
    """
)
TEXT = "The words of a stranger"
REFERENCE = "the-reference-of-a-stranger"


def a_send(service: Service) -> dict[str, Any]:
    """A send that waits for its time."""
    response = service.send(PHONE, TEXT, reference=REFERENCE, send_at=ahead())
    assert response.status_code == 200, response.text
    return dict(response.json)


def a_sender(service: Service) -> str:
    """A sender ID that was asked for."""
    count = len(every(service.get, "/sender-ids?limit=1000"))
    response = service.post("/sender-ids", sender_id=f"OWN{count}", use_case="orders")
    assert response.status_code == 200, response.text
    return str(next(value for name, value in response.json.items() if name in ("id", "sender")))


def a_suppressed_phone(service: Service) -> str:
    """A phone that opted out."""
    response = service.post("/suppressions", phones=[OPTED_OUT])
    assert response.status_code == 200, response.text
    return OPTED_OUT


def a_webhook(service: Service) -> str:
    """A webhook."""
    response = service.post("/webhooks", url="https://receiver-of-a-stranger.example/hook")
    assert response.status_code == 200, response.text
    return str(response.json["webhook_id"])


def a_delivery(service: Service, webhook: str) -> str:
    """An event that could not be posted to the webhook."""
    event = str(service.post(f"/webhooks/{webhook}/test").json["event_id"])
    service.execute(FAILED, webhook=webhook, event=event)
    return event


IS_SANDBOX = text("SELECT sandbox_of IS NOT NULL FROM account WHERE id = :account")
OF_SANDBOX = text(
    """
    INSERT INTO invitation (id, email, account_id, role, token_hash, invited_by, expires_at)
    VALUES (:id, :email, :account, 'viewer', uuid_send(:id), 'operator', now() + interval '1 day')
    """
)
"""No request makes it."""


def an_invitation(service: Service) -> str:
    """An open invitation."""
    account, email, made = service.account_id, f"stranger-{new_id().hex}@example.com", new_id()
    with service.engine.begin() as connection:
        if not connection.execute(IS_SANDBOX, {"account": account}).scalar_one():
            return str(invite(connection, email, account, "viewer").id)
        connection.execute(OF_SANDBOX, {"id": made, "email": email, "account": account})
    return str(made)


def an_import(service: Service, group: str) -> str:
    """A file of contacts."""
    headers = {"Authorization": f"Bearer {service.token}", "Content-Type": "text/csv"}
    response = service.client.post(f"{PREFIX}/groups/{group}/import", data=PHONE, headers=headers)
    assert response.status_code == 200, response.text
    service.import_files()
    return str(response.json["import_id"])


EXPORT = text(
    """
    INSERT INTO message_export (id, account_id, format, query, finished_at)
    VALUES (:id, :account, 'csv', '{}', now())
    """
)
"""Requests can make only a few of an account."""


def an_export(service: Service) -> str:
    """A file of no messages."""
    made = new_id()
    service.execute(EXPORT, id=made, account=service.account_id)
    return str(made)


def a_credential(service: Service) -> str:
    """A credential for the SMPP server."""
    system_id = f"s{new_id().hex[-14:]}"
    response = service.post("/smpp-credentials", system_id=system_id, allowed_ips=["192.0.2.0/24"])
    assert response.status_code == 200, response.text
    return str(response.json["credential_id"])


OWNED: dict[str, Callable[[Service, dict[str, str]], str]] = {
    "send_id": lambda service, made: str(a_send(service)["send_id"]),
    "message_id": lambda service, made: str(a_send(service)["message_id"]),
    "credential_id": lambda service, made: a_credential(service),
    "group_id": lambda service, made: service.new_group([PHONE]),
    "export_id": lambda service, made: an_export(service),
    "import_id": lambda service, made: an_import(service, service.new_group([PHONE])),
    "key_id": lambda service, made: str(service.post("/api-keys", name="a key of a stranger").json["api_key"]),
    "sender": lambda service, made: a_sender(service),
    "phone": lambda service, made: a_suppressed_phone(service),
    "webhook_id": lambda service, made: a_webhook(service),
    "event_id": lambda service, made: a_delivery(service, made["webhook_id"]),
    "person_id": lambda service, made: str(a_person(service, service.account_id).id),
    "invitation_id": lambda service, made: an_invitation(service),
    "verification_id": lambda service, made: str(
        service.post("/verifications", sender_id="ACME", phone="254797000000").json["verification_id"]
    ),
    "erasure_id": lambda service, made: str(service.post("/erasures", phone="254798000000").json["erasure_id"]),
}
"""Each is made for an account, and may need what was made before it."""
NOBODYS = {
    "key_id": "smsk_live_nobodyhas00",
    "phone": "254799000000",
}
"""What no account has; without a line here it is a UUID."""
OF_A_PERSON = {"session_id"}
"""Variables that name what a person has, whatever their accounts (tests/integration/people/test_sessions.py)."""
OF_NO_ACCOUNT = {"code": "no_response", "month": f"{datetime.now(UTC):%Y-%m}"}
"""Variables that name what belongs to no account, and a value of each."""
