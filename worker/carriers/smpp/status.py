"""The meaning of a carrier's command_status for a message.

With any status but ESME_ROK the carrier has not taken the message, by the standard. ESME_RMSGQFUL, "message queue
full" (SMPP 3.4 §5.1.3), is how carriers refuse one recipient, whose phone has been off for long. A status that is not
named below, such as a vendor-specific code, is a failure that is retried a few times.
"""

from shared.carriers.smpp.constants import Status, status_name
from worker.carriers.base import Outcome, ResponseKind, unsubmitted

__all__ = ["NOT_CONNECTED", "WINDOW_FULL", "CarrierResponse", "credentials_refused", "outcome_of"]

NOT_CONNECTED, WINDOW_FULL = -1, -2
"""Pseudo-statuses of PDUs that were never written: no connection, or no free slot in the window in time."""

CarrierResponse = int | str | None
"""An error status; the carrier's message id, possibly empty; or None while there is no response."""

_NOT_NOW: dict[int, ResponseKind] = {
    Status.ESME_RTHROTTLED: ResponseKind.THROTTLED,
    Status.ESME_RMSGQFUL: ResponseKind.POSTPONED,
}
_OF_THE_BIND = {
    Status.ESME_RINVCMDID,
    Status.ESME_RINVBNDSTS,
    Status.ESME_RINVPASWD,
    Status.ESME_RINVSYSID,
    Status.ESME_RINVSYSTYP,
}
_INVALID = {status for status in Status if status.name.startswith("ESME_RINV")} - _OF_THE_BIND
_REFUSED_ALWAYS = _INVALID | {
    Status.ESME_RCNTSUBDL,
    Status.ESME_RX_P_APPN,
    Status.ESME_RX_R_APPN,
    Status.ESME_ROPTPARNOTALLWD,
    Status.ESME_RMISSINGOPTPARAM,
}
_CREDENTIALS = frozenset({Status.ESME_RBINDFAIL, Status.ESME_RINVPASWD, Status.ESME_RINVSYSID, Status.ESME_RINVSYSTYP})


_UNSUBMITTED = {NOT_CONNECTED: unsubmitted("not_connected"), WINDOW_FULL: unsubmitted("window_full")}


def outcome_of(response: CarrierResponse) -> Outcome:
    """The outcome of one submit_sm. If it was accepted without an id, it has no reference."""
    if response is None:
        return Outcome(ResponseKind.IN_DOUBT, error="no_response")
    if isinstance(response, str):
        return Outcome(ResponseKind.ACCEPTED, response or None)
    return _UNSUBMITTED.get(response) or Outcome(_kind_of(response), error=status_name(response))


def _kind_of(status: int) -> ResponseKind:
    return ResponseKind.REJECTED if status in _REFUSED_ALWAYS else _NOT_NOW.get(status, ResponseKind.FAILED)


def credentials_refused(status: int) -> bool:
    """Whether a bind was refused for its credentials: retrying soon is useless, and may lock the account."""
    return status in _CREDENTIALS
