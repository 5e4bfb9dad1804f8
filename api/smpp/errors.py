"""Which command_status tells a customer why a submit was refused. docs/guides/smpp.md has the table.

Clients send again after RSYSERR, RMSGQFUL and RTHROTTLED, so only what heals by itself gets these.
"""

import logging
from typing import Final

from api.problems import Problem
from shared.carriers.smpp.constants import Status
from shared.carriers.smpp.pdu import Malformed
from shared.db.connection import is_outage_or_timeout

log = logging.getLogger(__name__)

OF_CODE: Final = {
    **dict.fromkeys(("sender_not_registered", "sender_not_approved"), Status.ESME_RINVSRCADR),
    "category_not_allowed": Status.ESME_RINVPRTFLG,
    **dict.fromkeys(("destination_not_allowed", "recipient_suppressed", "no_price"), Status.ESME_RINVDSTADR),
    "rate_limited": Status.ESME_RTHROTTLED,
    **dict.fromkeys(("idempotency_in_progress", "unavailable", "internal_error"), Status.ESME_RSYSERR),
}
"""All other codes are RSUBMITFAIL."""
OF_FIELD: Final = {
    "/sender_id": Status.ESME_RINVSRCADR,
    "/phone": Status.ESME_RINVDSTADR,
    "/message": Status.ESME_RINVMSGLEN,
    "/send_at": Status.ESME_RINVSCHED,
    "/expires_at": Status.ESME_RINVEXPIRY,
    "/Idempotency-Key": Status.ESME_RINVOPTPARAMVAL,
}
"""Of a `validation_failed`, by its first field."""


class RefusedPdu(Exception):
    """A PDU that is answered with a status, and a text for people. `code` is that of the problem, if it is one."""

    def __init__(self, status: Status, text: str = "", code: str | None = None) -> None:
        super().__init__(status, text)
        self.status = status
        self.text = text
        self.code = code


def refusal_of(error: Exception) -> RefusedPdu:
    """How an exception is answered. One that is our own fault is logged."""
    if isinstance(error, RefusedPdu):
        return error
    if isinstance(error, Malformed):
        return RefusedPdu(Status.ESME_RINVCMDLEN)
    if isinstance(error, Problem):
        field = error.members["errors"][0]["pointer"] if error.code == "validation_failed" else ""
        status = OF_FIELD.get(field) or OF_CODE.get(error.code, Status.ESME_RSUBMITFAIL)
        return RefusedPdu(status, error.detail, error.code)
    if not is_outage_or_timeout(error):
        log.error("a PDU failed with an internal error", exc_info=error)
    return RefusedPdu(Status.ESME_RSYSERR)
