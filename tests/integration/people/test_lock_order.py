"""Changes of members, keys and invitations lock in one order, so that none deadlocks with another."""

from collections.abc import Callable
from threading import Thread
from typing import Any

import pytest
from sqlalchemy import text

from api.auth.still_valid import lock_caller
from shared.accounts.audit_log import Actor
from shared.people.invitations import accept, invite
from shared.people.memberships import add_member, end_membership, find_member
from tests.harness.database import wait_until_somebody_waits
from tests.harness.people import a_person
from tests.harness.service import Service
from tests.harness.threads import join_all

EMAIL = text("UPDATE invitation SET email = :email WHERE id = :id")


def in_thread(act: Callable[[], object]) -> tuple[Thread, list[BaseException]]:
    """A thread that does it, and its errors."""
    errors: list[BaseException] = []

    def run() -> None:
        try:
            act()
        except BaseException as error:
            errors.append(error)

    return Thread(target=run), errors


def test_an_owner_changes_members_and_makes_a_key_with_one_token(service: Service) -> None:
    token = a_person(service, service.account_id, "owner").token(service.account_id)
    caller = service.flask.extensions["bulksms"].tokens.parse(token)

    def makes_a_key() -> None:
        service.transact(lock_caller, caller)

    thread, errors = in_thread(makes_a_key)
    with service.engine.begin() as connection:
        lock_caller(connection, caller, owners=True)
        thread.start()
        wait_until_somebody_waits(service.engine)
        lock_caller(connection, caller)
    join_all(thread)
    assert errors == []


def test_a_member_accepts_an_invitation_and_is_removed(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    a_person(service, service.account_id, "owner")
    member = a_person(service, service.account_id, "viewer")
    offered = service.transact(invite, "somebody@example.com", service.account_id, "viewer")
    service.execute(EMAIL, email=member.email, id=offered.id)

    def remove() -> None:
        assert service.transact(end_membership, service.account_id, member.id)

    thread, errors = in_thread(remove)

    def add_while_they_are_removed(*arguments: Any, **more: Any) -> None:
        thread.start()
        wait_until_somebody_waits(service.engine)
        add_member(*arguments, **more)

    monkeypatch.setattr("shared.people.invitations.add_member", add_while_they_are_removed)
    assert service.transact(accept, offered.token, member.id, by=Actor("member"))
    join_all(thread)
    assert errors == []
    assert service.transact(find_member, service.account_id, member.id) is None
