"""Who may bind. RINVPASWD is only for wrong credentials: many clients never try again after it. What heals by itself,
or is for the operator to change, is RBINDFAIL."""

from typing import NamedTuple
from uuid import UUID

from api.auth.tokens import Caller
from api.problems import Problem
from api.protocols.logins import caller_of, log_in
from api.services import Services
from api.smpp.errors import RefusedPdu
from shared.accounts.smpp_credentials import Credential, add_bind
from shared.carriers.smpp.constants import Status
from shared.carriers.smpp.pdu import Bind
from shared.outbox import listen


class Bound(NamedTuple):
    """A bind: its row, its credential, and who sends by it."""

    id: UUID
    credential: Credential
    caller: Caller
    kind: str

    @property
    def sends(self) -> bool:
        """Whether it may submit."""
        return self.kind != "receiver"

    @property
    def receives(self) -> bool:
        """Whether it gets deliveries."""
        return self.kind != "transmitter"


def bind(services: Services, request: Bind, kind: str, address: str) -> Bound:
    """Bind, or raise RefusedPdu. Blocks. From then on the account's events are kept for its receivers."""
    try:
        credential = log_in(services, request.system_id, request.password, address)
    except Problem as problem:
        wrong = problem.code == "invalid_credentials"
        raise RefusedPdu(Status.ESME_RINVPASWD if wrong else Status.ESME_RBINDFAIL) from None
    listen(services.engine, credential.account_id)
    with services.engine.begin() as connection:
        row = add_bind(connection, credential, kind, address)
    if row is None:
        raise RefusedPdu(Status.ESME_RBINDFAIL)
    return Bound(row, credential, caller_of(credential), kind)
