"""The actor of a change made through an API, for the audit log."""

from uuid import UUID

from api.auth.operator_tokens import Operator
from api.auth.tokens import Caller
from api.endpoint import client_address
from api.http.request import current_request
from shared.accounts.audit_log import Actor
from shared.people.persons import actor_of


def by_caller(caller: Caller | Operator) -> Actor:
    """The caller's key or person, the request's id and its address, as the audit log records them."""
    return Actor(caller.actor, current_request().request_id, client_address())


def by_person(person_id: UUID) -> Actor:
    """A person who is signed in, the request's id and its address, as the audit log records them."""
    return Actor(actor_of(person_id), current_request().request_id, client_address())
