"""What is counted and logged of submits, as of the requests of the HTTP API."""

from functools import cache
from random import random
from typing import Any, Final

from prometheus_client import Histogram

from api.server.request_log import RequestLog
from api.smpp.binds import Bound
from shared.carriers.smpp.constants import Command, Status
from shared.observability.metrics import CUSTOMER_SUBMIT_SECONDS

HTTP_STATUS: Final = {Status.ESME_ROK: 200, Status.ESME_RSYSERR: 500, Status.ESME_RTHROTTLED: 429}
"""By which the request log chooses level and number of its lines; 400 for all others."""


@cache
def _seconds_of(status: Status) -> Histogram:
    return CUSTOMER_SUBMIT_SECONDS.labels(status.name)


class ObservedSubmits:
    """The submits of a process."""

    def __init__(self, sample_rate: float) -> None:
        """`sample_rate` is the share of accepted submits that is logged."""
        self.log = RequestLog()
        self._sample_rate = sample_rate

    def add(
        self,
        bound: Bound | None,
        command: int,
        status: Status,
        answer: bytes = b"",
        seconds: float = 0.0,
        code: str | None = None,
    ) -> None:
        """Add an answered submit: the body of its answer, or the code of its problem. Does not block."""
        _seconds_of(status).observe(seconds)
        if status == Status.ESME_ROK and not random() < self._sample_rate:
            return
        members: dict[str, Any] = {
            "account": bound and bound.caller.account_id,
            "key": bound and bound.caller.key_id,
            "route": Command(command).name.lower(),
            "message_id": answer[:-1].decode() if status == Status.ESME_ROK else None,
            "status": status.name,
            "code": code,
            "ms": round(1000 * seconds, 1),
        }
        self.log.keep(HTTP_STATUS.get(status, 400), lambda: members)
