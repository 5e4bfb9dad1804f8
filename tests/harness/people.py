"""People of the tests: created in the database, and what they do over the API."""

from functools import cache
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import Connection
from werkzeug.test import TestResponse

from shared.ids import new_id
from shared.people.memberships import add_member
from shared.people.passwords import hash_password
from shared.people.persons import create_person, set_operator_role
from shared.people.sessions import Origin, begin_session
from tests.harness.documented import documented
from tests.harness.service import PREFIX, Service

PASSWORD = "a long enough password"
HERE = "198.51.100.7"


@cache
def hash_of_password() -> str:
    """PASSWORD, hashed once for all people."""
    return hash_password(PASSWORD)


class Person(NamedTuple):
    """A person with the password PASSWORD, and a session that began without it."""

    service: Service
    id: UUID
    email: str
    session_id: UUID
    session: str

    def call(self, method: str, path: str, session: str | None = None, **body: Any) -> TestResponse:
        """A request with the token of their session, or of another one."""
        headers = {"Authorization": f"Bearer {session or self.session}"}
        sent: dict[str, Any] = {"json": body} if method not in ("GET", "DELETE") else {}
        response = self.service.client.open(PREFIX + path, method=method, headers=headers, **sent)
        return documented(self.service.flask, response)

    def get(self, path: str, session: str | None = None) -> TestResponse:
        """GET."""
        return self.call("GET", path, session)

    def post(self, path: str, session: str | None = None, **body: Any) -> TestResponse:
        """POST a JSON body."""
        return self.call("POST", path, session, **body)

    def token(self, account_id: int, *, test: bool = False) -> str:
        """Their token for an account, or its sandbox."""
        response = self.post("/me/token", account_id=account_id, test=test)
        assert response.status_code == 200, response.text
        return str(response.json["access_token"])


def a_member(connection: Connection, account_id: int | None, role: str = "owner") -> tuple[UUID, str]:
    """A new person in an account or in none, with the password PASSWORD. Returns their id and e-mail address."""
    email = f"person-{new_id().hex}@example.com"
    person_id = create_person(connection, email, "Ann Otieno", hash_of_password())
    assert person_id is not None
    if account_id is not None:
        add_member(connection, account_id, person_id, role)
    return person_id, email


def a_person(
    service: Service, account_id: int | None = None, role: str = "viewer", operator_role: str | None = None
) -> Person:
    """A new person who is signed in, in an account or in none."""
    with service.engine.begin() as connection:
        person_id, email = a_member(connection, account_id, role)
        if operator_role is not None:
            set_operator_role(connection, person_id, operator_role)
        session = begin_session(connection, person_id, Origin("203.0.113.1", "203.0.113.1", "tests"))
    return Person(service, person_id, email, session.id, session.token)


def open_call(service: Service, path: str, address: str = HERE, **body: Any) -> TestResponse:
    """A POST without a token, from an address."""
    response = service.client.post(PREFIX + path, json=body, environ_overrides={"REMOTE_ADDR": address})
    return documented(service.flask, response)


def sign_in(service: Service, email: str, password: str = PASSWORD, address: str = HERE, **more: Any) -> TestResponse:
    """Sign in by e-mail address and password."""
    return open_call(service, "/sign-in", address, email=email, password=password, **more)


def changes(service: Service) -> list[tuple[str, str, str | None]]:
    """Who did what to which object, from the whole audit log."""
    rows = service.execute("SELECT actor, action, subject FROM audit_log ORDER BY id")
    return [(row.actor, row.action, row.subject) for row in rows]
