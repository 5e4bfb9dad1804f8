"""One connection of a customer: binds, answers requests, and sends deliveries. What all connections do is in
shared/carriers/smpp/server_connection.py."""

import asyncio
import time
from collections.abc import Callable, Coroutine
from typing import Any, Final, NamedTuple

from api.accept.accept import PendingSend
from api.event_loop import NeedsThread
from api.smpp.backend import MAX_OPEN, REQUESTS, SUBMITS, Backend
from api.smpp.binds import Bound
from api.smpp.errors import RefusedPdu, refusal_of
from api.smpp.submits import response_to
from api.smpp.throttle import Throttle
from shared.carriers.smpp.constants import RESPONSE, Command, Status, Tag
from shared.carriers.smpp.pdu import c_string, read_bind, tlv
from shared.carriers.smpp.server_connection import SUBMIT_SM, ServerConnection
from shared.db.errors import may_be_committed
from shared.observability.metrics import CUSTOMER_BINDS

SYSTEM_ID: Final = "bulksms"
"""Of this server, in the response to a bind."""
MAX_TEXT: Final = 255
"""Characters of a text that explains a status."""

MAX_REQUEST: Final = 16 * 1024
"""Octets of a request's body. Texts and parameters that are passed on fit into it."""
MAX_OPEN_OCTETS: Final = 1024 * 1024
"""Octets of the bodies of a connection's requests without an answer."""
WAIT_SECONDS: Final = 10.0
"""How old a request may be when a thread begins with it: its client may have sent it again since."""


class OpenRequest(NamedTuple):
    """A request without an answer."""

    bound: Bound
    command: int
    sequence: int
    body: bytes
    at: float
    """When it came, by the monotonic clock."""


Answered = Callable[[int | None], None]


class Session(ServerConnection[Answered]):
    """A connection, bound or not yet."""

    def __init__(
        self, backend: Backend, opened: Callable[["Session"], bool], closed: Callable[["Session"], None]
    ) -> None:
        """`opened` says whether it may stay."""
        super().__init__()
        self._backend, self._opened, self._closed = backend, opened, closed
        self.bound: Bound | None = None
        self._throttle = Throttle(backend.services.rate_limits)
        self._tasks: set[asyncio.Task[None]] = set()
        self._open_octets = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin, unless there are too many."""
        super().connection_made(transport)
        if not self._opened(self):
            self.abort()

    def connection_lost(self, error: Exception | None) -> None:
        """Give back the deliveries that were not answered."""
        super().connection_lost(error)
        if self.bound is not None:
            if self.bound.receives:
                self._backend.deliverer.remove(self.bound.credential.id, self)
            self._backend.drop(self.bound)
            CUSTOMER_BINDS.labels(self.bound.kind).dec()
        for _, answered in self.unanswered.values():
            answered(None)
        self._closed(self)

    def resume_writing(self) -> None:
        """Go on, also with deliveries."""
        super().resume_writing()
        if self.bound is not None:
            self._backend.deliverer.wake(self.bound.credential.id)

    def bind(self, command: int, sequence: int, body: bytes) -> None:
        """Begin to bind. Nothing more is read until that is answered."""
        if self.bound is not None or self._backend.stopping:
            self.count_cheap()
            status = Status.ESME_RALYBND if self.bound is not None else Status.ESME_RBINDFAIL
            self._refuse(command, sequence, RefusedPdu(status))
            return
        self.hold(True)
        self._start(self._bind(command, sequence, body))

    async def _bind(self, command: int, sequence: int, body: bytes) -> None:
        kind = Command(command).name.removeprefix("BIND_").lower()
        try:
            bound = await self._backend.bind(read_bind(body), kind, self.address)
        except Exception as error:
            status = refusal_of(error).status
            self._refuse(
                command, sequence, RefusedPdu(Status.ESME_RBINDFAIL if status == Status.ESME_RSYSERR else status)
            )
            self.close()
            return
        if self.is_closing:
            self._backend.drop(bound)
            return
        self.bound, self.is_bound, self.window = bound, True, bound.credential.window_size
        CUSTOMER_BINDS.labels(bound.kind).inc()
        self.write(command | RESPONSE, Status.ESME_ROK, sequence, c_string(SYSTEM_ID))
        if bound.receives:
            self._backend.deliverer.add(bound.credential.id, self)
        self.hold(False)

    def submit(self, data: bytes, at: int, end: int, sequence: int) -> None:
        """Begin to answer a submit_sm."""
        self.request(SUBMIT_SM, sequence, data[at:end])

    def request(self, command: int, sequence: int, body: bytes) -> None:
        """Begin to answer a request, within the window."""
        if command not in REQUESTS:
            super().request(command, sequence, body)
            return
        bound, status = self.bound, None
        if bound is None or (command in SUBMITS and not bound.sends):
            status = Status.ESME_RINVBNDSTS
        elif self.requests >= self.window or self._open_octets >= MAX_OPEN_OCTETS:
            status = Status.ESME_RTHROTTLED
        elif len(body) > MAX_REQUEST:
            status = Status.ESME_RINVMSGLEN
        elif self._backend.stopping or self.closes_at is not None:
            status = Status.ESME_RSYSERR
        elif not self._backend.open.acquire(bound.caller.account_id, MAX_OPEN):
            status = Status.ESME_RTHROTTLED
        if status is not None:
            self.count_cheap()
            self._refuse(command, sequence, RefusedPdu(status))
            if command in SUBMITS:
                self._backend.submits.add(bound, command, status)
            return
        assert bound is not None
        self.requests += 1
        self._open_octets += len(body)
        opened = OpenRequest(bound, command, sequence, body, time.monotonic())
        if self._throttle.take(bound.caller):
            self._begin(opened)
        else:
            self._start(self._hold(opened))

    async def _hold(self, opened: OpenRequest) -> None:
        """Begin with a request once it is within its limits."""
        try:
            await self._throttle.wait(opened.bound.caller)
            if self.is_closing:
                raise RefusedPdu(Status.ESME_RSYSERR)  # nobody would read the answer
        except Exception as error:
            self._answer(opened, error)
        else:
            self._begin(opened)

    def _begin(self, opened: OpenRequest) -> None:
        """Begin with a request. A submit takes no task, so that the submits that are read together cost little."""
        if opened.command not in SUBMITS:
            self._start(self._answer_in_thread(opened))
            return
        try:
            begun = self._backend.begin(opened.bound, opened.command, opened.body)
        except NeedsThread:
            self._start(self._answer_in_thread(opened))
        except Exception as error:
            self._answer(opened, error)
        else:
            begun.ready.add_done_callback(lambda _: self._finish(opened, begun))

    def _finish(self, opened: OpenRequest, begun: PendingSend) -> None:
        """Answer a submit whose commit is over."""
        try:
            try:
                finish = begun.finisher()
            except NeedsThread:
                self._start(self._answer_in_thread(opened))
                return
            answer = response_to(finish())  # what is committed never begins again
        except Exception as error:
            self._answer(opened, error)
        else:
            self._answer(opened, answer)

    async def _answer_in_thread(self, opened: OpenRequest) -> None:
        def answer_in_time() -> bytes:
            if self.is_closing or time.monotonic() - opened.at > WAIT_SECONDS:
                raise RefusedPdu(Status.ESME_RSYSERR)  # nobody waits for the answer
            return self._backend.answer(opened.bound, opened.command, opened.body)

        try:
            answer = await self._backend.request_threads.submit(opened.bound.caller.account_id, answer_in_time)
        except Exception as error:
            self._answer(opened, error)
        else:
            self._answer(opened, answer)

    def _answer(self, opened: OpenRequest, answer: bytes | Exception) -> None:
        """Answer a request with a body, or with an error."""
        status, body, code = Status.ESME_ROK, b"", None
        if isinstance(answer, bytes):
            body = answer
            self.write(opened.command | RESPONSE, status, opened.sequence, body)
        else:
            refused = refusal_of(answer)
            status, code = refused.status, refused.code
            if may_be_committed(answer):
                self.abort()  # any answer might be wrong
            else:
                self._refuse(opened.command, opened.sequence, refused)
        if opened.command in SUBMITS:
            self._backend.submits.add(self.bound, opened.command, status, body, time.monotonic() - opened.at, code)
        self._backend.open.release(opened.bound.caller.account_id)
        self._open_octets -= len(opened.body)
        self.request_ended()

    def _refuse(self, command: int, sequence: int, refused: RefusedPdu) -> None:
        """Answer with an error: without a body (§4.4.2), unless there is a text to add."""
        body = b""
        if refused.text and command in SUBMITS:
            text = refused.text[:MAX_TEXT].encode("latin-1", "replace")
            body = b"\0" + tlv(Tag.ADDITIONAL_STATUS_INFO_TEXT, text + b"\0")
        self.write(command | RESPONSE, refused.status, sequence, body)

    def deliver(self, body: bytes, answered: Answered) -> None:
        """Send a deliver_sm. `answered` gets the status of its answer; None if the bind ends without one."""
        sequence = self.next_sequence()
        self.unanswered[sequence] = (time.monotonic(), answered)
        self.write(Command.DELIVER_SM, Status.ESME_ROK, sequence, body)

    def answered(self, delivery: Answered, status: int) -> None:
        """A delivery was answered."""
        delivery(status)

    async def finished(self) -> None:
        """Wait for the answers to what was begun."""
        while self._tasks or self.requests:
            await asyncio.sleep(0.01)

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
