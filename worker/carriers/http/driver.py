"""The `Carrier` for a declared HTTP carrier: concurrent requests over persistent connections."""

import logging
import threading
import time
from functools import partial
from typing import Literal, NamedTuple

from shared.carriers.http.config import HttpConfig
from shared.retry_after import retry_after
from worker.carriers.base import (
    CarrierInbox,
    LateResponse,
    MessageGroup,
    Outcome,
    Pace,
    ResponseKind,
    UnlimitedPace,
    unsubmitted,
)
from worker.carriers.http.orders import Order, orders
from worker.carriers.http.polling import Poller
from worker.carriers.http.request_threads import RequestThreads
from worker.carriers.http.responses import ParsedResponse, parse_response
from worker.carriers.http.transport import HttpResponse, Lost, Transport
from worker.carriers.late_responses import LateResponses

log = logging.getLogger(__name__)

LATE_RESPONSE_TIMEOUT = 30.0
"""Seconds to keep waiting for a response after its messages were reported as in doubt."""
CLOSE_SECONDS = 2.0
"""The longest that `close` waits for outstanding responses."""
SUSPENDED_TIME = 30.0
"""Seconds between tries while our credentials, or the carrier's certificate, are refused."""
MAX_PAUSE = 300.0
"""The longest Retry-After that is honored, in seconds."""
MAX_THREADS = 200
FIRST_WAIT = 0.5
"""Seconds before an unreachable carrier is retried; doubles each time, up to SUSPENDED_TIME."""

State = Literal["closed", "bound", "connecting", "suspended"]


class Health(NamedTuple):
    """The carrier's state. `bound`: the last request got a response. `suspended`: it refuses our credentials."""

    state: State
    error: str | None = None


class HttpCarrier:
    """One account at an HTTP carrier."""

    unreadable, unmatched_responses = 0, 0

    def __init__(self, config: HttpConfig) -> None:
        self.name = config.name
        self.rate = config.rate
        self.window = config.window
        self.pace: Pace = UnlimitedPace()
        self._config = config
        connections = min(MAX_THREADS, config.window)  # texts of their own fill no batch
        self._transport = Transport(config, connections + 1)  # one for the poller
        self._threads = RequestThreads(connections, f"{config.name}-request")
        self._poller = Poller(config, self._transport)
        self._late = LateResponses(config.name)
        self._closing = threading.Event()
        self._lock = threading.Lock()
        self._paused_until = 0.0
        self._unreached = 0
        self.health = Health("closed")

    def open(self, inbox: CarrierInbox) -> None:
        """Begin to poll for receipts, if so declared. Receipts that the carrier posts go to the API."""
        self._late.start(inbox)
        self.health = Health("bound")
        self._poller.start(inbox)

    @property
    def trouble(self) -> str | None:
        """Why nothing can be submitted: the carrier is unreachable, refuses our credentials, or asked us to wait."""
        is_paused = time.monotonic() < self._paused_until or self._closing.is_set()
        return f"{self.health.state}: {self.health.error}" if is_paused else None

    def submit(self, message_groups: list[MessageGroup], limit: Pace | None = None) -> list[Outcome]:
        """Submit the messages, with as many concurrent requests as the window allows. One outcome each, in order.

        A message without a response is in doubt if any of it may have been written, and throttled if not.
        """
        deadline = time.monotonic() + self._config.response_timeout
        if self.trouble is not None:
            return [unsubmitted(self.health.error)] * sum(len(message_group.ids) for message_group in message_groups)
        requests = list(orders(self._config, message_groups))
        for order in requests:
            if order.outcomes is not None:
                continue
            if limit is not None and limit.chunk and not limit.take(order.segments, deadline):
                order.outcomes = _lost(order, "not_in_time")
                order.done.set()
            else:
                self._threads.submit(partial(self._request, order, deadline))
        for order in requests:
            order.done.wait(max(0.0, deadline - time.monotonic()))
        return [outcome for order in requests for outcome in _given_up(order)]

    def close(self) -> None:
        """Wait up to two seconds for outstanding responses, report the late ones, and close."""
        self._closing.set()
        self._poller.stop()
        self._threads.stop(CLOSE_SECONDS)
        self._late.stop()
        self._transport.close()
        self.health = Health("closed")

    def _request(self, order: Order, deadline: float) -> None:
        """Send one request, and set its outcomes. Reports them as late if `submit` has stopped waiting."""
        try:
            outcomes = self._outcomes(order, deadline)
        except Exception as error:  # a bug; the error's text may contain message content
            log.error("%s: a request failed with an internal error: %s", self.name, type(error).__name__)
            outcomes = _lost(order, "internal_error")
        with order.lock:
            order.outcomes = outcomes
            is_late = order.given_up
        order.done.set()
        if is_late and order.may_be_written:
            for message, outcome in zip(order.ids, outcomes, strict=True):
                if outcome.response is not ResponseKind.IN_DOUBT:
                    self._late.add(partial(LateResponse, message, outcome))

    def _outcomes(self, order: Order, deadline: float) -> list[Outcome]:
        if self.trouble is not None:
            return _lost(order, self.health.error or "closed")
        if self.pace.chunk and not self.pace.take(order.segments, deadline):
            return _lost(order, "window_full")
        try:
            response = self._transport.send(order, self._config.response_timeout + LATE_RESPONSE_TIMEOUT)
        except Lost as lost:
            if not order.may_be_written:
                self._back_off(str(lost))
            return _lost(order, str(lost))
        self._unreached = 0
        parsed = parse_response(
            self._config, response.status, "retry-after" in response.headers, response.body, order.phones
        )
        self._honor_pause(parsed, response)
        return parsed.outcomes

    def _honor_pause(self, parsed: ParsedResponse, response: HttpResponse) -> None:
        """Stop sending requests for a while if the carrier asks for that."""
        if parsed.suspended is not None:
            self._pause("suspended", parsed.suspended, SUSPENDED_TIME)
        elif parsed.throttled and (seconds := retry_after(response.headers.get("retry-after"), MAX_PAUSE)):
            self._pause("bound", "paused", seconds)
        elif self.health.state != "bound" or self.health.error is not None:
            with self._lock:
                if time.monotonic() >= self._paused_until:  # otherwise this request is older than the pause
                    self.health = Health("bound")

    def _back_off(self, code: str) -> None:
        """Nothing was written: back off before the next request."""
        if code == "tls_failed":
            self._pause("suspended", code, SUSPENDED_TIME)
        elif code == "not_connected" and self.trouble is None:
            self._unreached = min(self._unreached + 1, 10)
            self._pause("connecting", code, min(SUSPENDED_TIME, FIRST_WAIT * 2 ** (self._unreached - 1)))

    def _pause(self, state: State, error: str, seconds: float) -> None:
        with self._lock:
            self._paused_until = max(self._paused_until, time.monotonic() + seconds)
            if state == "suspended" and self.health.state != state:
                log.error("%s: suspended, retried every %g s: %s", self.name, SUSPENDED_TIME, error)
            self.health = Health(state, error)


def _lost(order: Order, code: str) -> list[Outcome]:
    """The outcomes of a request without a response."""
    with order.lock:
        doubt = order.may_be_written
    outcome = Outcome(ResponseKind.IN_DOUBT, error="no_response") if doubt else unsubmitted(code)
    return [outcome] * len(order.ids)


def _given_up(order: Order) -> list[Outcome]:
    """The order's outcomes. Marks it as given up: if it has not been written yet, it never will be."""
    with order.lock:
        if order.outcomes is not None:
            return order.outcomes
        order.given_up = True
    return _lost(order, "window_full")
