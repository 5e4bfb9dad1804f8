"""What is counted and logged of submits, as of the requests of the HTTP API."""

from random import random
from typing import Any, Final

from api.server.request_log import RequestLog
from api.smpp.binds import Bound
from shared.carriers.smpp.constants import Command, Status
from shared.observability.metrics import CUSTOMER_SUBMIT_SECONDS, CUSTOMER_SUBMITS

HTTP_STATUS: Final = {Status.ESME_ROK: 200, Status.ESME_RSYSERR: 500, Status.ESME_RTHROTTLED: 429}
"""By which the request log chooses level and number of its lines; 400 for all others."""


class ObservedSubmits:
    """The submits of a process."""

    def __init__(self, sample_rate: float) -> None:
        """`sample_rate` is the share of accepted submits that is logged."""
        self.log = RequestLog()
        self._sample_rate = sample_rate

    def add(self, bound: Bound | None, command: Command, status: Status, message_id: str, seconds: float) -> None:
        """Add an answered submit. Does not block."""
        CUSTOMER_SUBMITS.labels(status.name).inc()
        CUSTOMER_SUBMIT_SECONDS.observe(seconds)
        if status == Status.ESME_ROK and not random() < self._sample_rate:
            return
        members: dict[str, Any] = {
            "account": bound and bound.caller.account_id,
            "key": bound and bound.caller.key_id,
            "route": command.name.lower(),
            "message_id": message_id or None,
            "status": status.name,
            "ms": round(1000 * seconds, 1),
        }
        self.log.keep(HTTP_STATUS.get(status, 400), lambda: members)
