"""What is done to one person, or in one account, changes nothing of others."""

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import Connection

from shared.accounts.audit_log import Actor
from shared.db.tables.people import person_identity
from shared.people.identities import bind_identity, unbind_identities
from shared.people.invitations import find_invitation, invite, revoke_invitation
from shared.people.memberships import add_member, change_role, end_membership
from shared.people.persons import actor_of, change_password, disable_person, lock_person, set_operator_role
from shared.people.retention import release_email
from shared.people.second_factor import begin_totp, code_at, confirm_totp, disable_totp, totp_texts
from shared.people.sessions import MAX_SESSIONS, Origin, begin_session, end_sessions
from shared.people.sign_in_links import has_link, make_link
from tests.harness.people import Person, a_person
from tests.harness.service import SECRET_KEY, Service
from tests.integration.people.test_retention import clean
from tests.integration.people.test_second_factor import enable, now

BY = Actor("tests")
TEXTS = totp_texts(SECRET_KEY)
OF_PERSON = {
    "person": "id = :person",
    "membership": "person_id = :person",
    "person_identity": "person_id = :person",
    "recovery_code": "person_id = :person",
    "sign_in_link": "person_id = :person",
    "person_session": "person_id = :person",
    "invitation": "invited_by = :who",
}
"""The tables that hold what a person has."""
IN_ACCOUNT = ("membership", "invitation")
"""Those of them that are in an account."""
Rows = dict[str, list[tuple[Any, ...]]]


class Two:
    """Two people who each have everything that a person can have, in the same two accounts."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.accounts = (service.account_id, service.new_account("other"))
        for account in self.accounts:
            a_person(service, account, "owner")
        self.ann, self.ben = self.one(), self.one()
        assert all(self.rows(self.ben).values())

    def one(self) -> Person:
        """A new one of them."""
        person = a_person(self.service, self.accounts[0], "owner", "support")
        enable(person)
        with self.service.engine.begin() as connection:
            add_member(connection, self.accounts[1], person.id, "owner")
            identity = {"issuer": "https://id.example", "subject": str(person.id), "person_id": person.id}
            connection.execute(person_identity.insert().values(identity))
            make_link(connection, person.id)
            for account in self.accounts:
                friend = f"friend-of-{person.id}@example.com"
                invite(connection, friend, account, "viewer", by=Actor(actor_of(person.id)))
        return person

    def rows(self, person: Person, account: int | None = None) -> Rows:
        """What the person has, by table; with an account only what they have there."""
        values = {"person": person.id, "who": actor_of(person.id), "account": account}
        tables = OF_PERSON if account is None else {name: OF_PERSON[name] for name in IN_ACCOUNT}
        also = "" if account is None else " AND account_id = :account"
        return {
            name: sorted(map(tuple, self.service.execute(f"SELECT * FROM {name} WHERE {own}{also}", **values)))
            for name, own in tables.items()
        }


@pytest.fixture
def two(service: Service) -> Two:
    return Two(service)


def confirm_new_totp(connection: Connection, ann: Person) -> None:
    secret = begin_totp(connection, ann.id, TEXTS)
    assert confirm_totp(connection, lock_person(connection, ann.id), TEXTS, code_at(secret, now()), by=BY)


def begin_many_sessions(connection: Connection, ann: Person) -> None:
    for _ in range(MAX_SESSIONS):
        begin_session(connection, ann.id, Origin("203.0.113.1", "203.0.113.1", "tests"))


TO_A_PERSON: dict[str, Callable[[Connection, Person], object]] = {
    "bind": lambda connection, ann: bind_identity(connection, ann.id, "https://other.example", "ann", by=BY),
    "unbind": lambda connection, ann: unbind_identities(connection, ann.id),
    "link": lambda connection, ann: make_link(connection, ann.id),
    "password": lambda connection, ann: change_password(connection, ann.id, "a hash", session=None, by=BY),
    "password in a session": lambda connection, ann: change_password(
        connection, ann.id, "a hash", session=ann.session_id, by=BY
    ),
    "many sessions": begin_many_sessions,
    "end of sessions": lambda connection, ann: end_sessions(connection, ann.id),
    "confirm TOTP": confirm_new_totp,
    "disable TOTP": lambda connection, ann: disable_totp(connection, ann.id, by=BY),
    "operator role": lambda connection, ann: set_operator_role(connection, ann.id, "admin"),
    "disable": lambda connection, ann: disable_person(connection, ann.email),
    "release": lambda connection, ann: release_email(connection, ann.email),
}
IN_AN_ACCOUNT: dict[str, Callable[[Connection, int, Person], object]] = {
    "role": lambda connection, account, ann: change_role(connection, account, ann.id, "viewer"),
    "removal": lambda connection, account, ann: end_membership(connection, account, ann.id),
}


@pytest.mark.parametrize("act", TO_A_PERSON)
def test_a_change_of_one_person_does_not_affect_others(two: Two, act: str) -> None:
    anns, bens = two.rows(two.ann), two.rows(two.ben)
    two.service.transact(TO_A_PERSON[act], two.ann)
    assert two.rows(two.ben) == bens
    assert two.rows(two.ann) != anns


@pytest.mark.parametrize("act", IN_AN_ACCOUNT)
def test_a_change_in_one_account_does_not_affect_others(two: Two, act: str) -> None:
    here, there = two.accounts
    before, bens = two.rows(two.ann, here), two.rows(two.ben)
    kept = two.rows(two.ann, there)
    assert two.service.transact(IN_AN_ACCOUNT[act], here, two.ann)
    assert two.rows(two.ben) == bens and two.rows(two.ann, there) == kept
    after = two.rows(two.ann, here)
    assert all(after[name] != before[name] for name in IN_ACCOUNT)


def test_erasing_a_person_does_not_affect_others(two: Two) -> None:
    bens = two.rows(two.ben)
    two.service.transact(disable_person, two.ann.email)
    two.service.execute(
        "UPDATE person SET disabled_at = disabled_at - interval '31 days' WHERE disabled_at IS NOT NULL"
    )
    clean(two.service)
    assert two.rows(two.ben) == bens


def test_only_the_person_a_link_was_made_for_has_one(two: Two) -> None:
    without = a_person(two.service)
    assert two.service.transact(has_link, two.ann.id) and not two.service.transact(has_link, without.id)


def test_only_its_own_account_can_revoke_an_invitation(two: Two) -> None:
    here, there = two.accounts
    with two.service.engine.begin() as connection:
        invitation = invite(connection, "friend@example.com", here, "viewer").id
        assert not revoke_invitation(connection, there, invitation)
        assert find_invitation(connection, here, invitation) is not None
        assert revoke_invitation(connection, here, invitation)
