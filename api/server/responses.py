"""Problems found before an endpoint is reached, whole and streamed responses, and clients that leave."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from api.http.receive import ClientGone, drain
from api.http.request import Receive, Send, new_request_id
from api.http.responses import encoded, problem_response
from api.http.wsgi import StreamedResponse, WholeResponse
from api.problems import CATALOGUE, Problem
from shared.db.cancellation import Canceled

CANCEL_AGAIN_SECONDS = 0.5
BUFFERED = 64 * 1024
"""Bytes of a response that the server takes at once. Of a longer one, it takes the end when the client has taken most
of the rest."""

_cancelling = ThreadPoolExecutor(4, "cancel")


def early_problem(code: str, detail: str, path: str) -> WholeResponse:
    """A problem found before the request reaches its endpoint. The connection closes after it."""
    request_id = new_request_id()
    response = problem_response(Problem(code, detail), path, request_id)
    headers = [*response.headers, ("X-Request-Id", request_id), ("Connection", "close")]
    if CATALOGUE[code].retryable:
        headers.append(("Retry-After", "1"))
    return WholeResponse(response.status, encoded(headers), response.body)


async def send_whole(send: Send, receive: Receive, response: WholeResponse, unread: bool = False) -> None:
    """Send a response. Of a long one, wait until the client has taken most of it.

    If part of the request's body is `unread`, drain it before the connection closes. Closing earlier would reset the
    connection, and the client would lose the response.
    """
    more = unread or len(response.body) > BUFFERED
    await send({"type": "http.response.start", "status": response.status, "headers": response.headers})
    await send({"type": "http.response.body", "body": response.body, "more_body": more})
    if unread:
        await drain(receive)
    if more:
        await send({"type": "http.response.body", "body": b""})


async def wait_until_done(
    job: "asyncio.Future[Any]", receive: Receive, withdraw: Callable[[], bool], cancel: Callable[[], None]
) -> None:
    """Wait for a job, and cancel it when the client leaves. Raises ClientGone if it had not started."""
    gone = asyncio.ensure_future(_until_gone(receive))
    try:
        await asyncio.wait((job, gone), return_when=asyncio.FIRST_COMPLETED)
        if not job.done() and withdraw():
            raise ClientGone
        await _cancel_until_done(job, cancel)
    finally:
        gone.cancel()


async def _cancel_until_done(job: "asyncio.Future[Any]", cancel: Callable[[], None]) -> None:
    """Cancel repeatedly: between two statements there is nothing to cancel."""
    loop = asyncio.get_running_loop()
    while not job.done():
        await loop.run_in_executor(_cancelling, cancel)
        await asyncio.wait((job,), timeout=CANCEL_AGAIN_SECONDS)


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def send_stream(
    send: Send,
    receive: Receive,
    response: StreamedResponse,
    in_thread: "Callable[[Callable[[], Any]], asyncio.Future[Any]]",
    cancel: Callable[[], None],
) -> None:
    """Send a response chunk by chunk, until it is complete or the client has left.

    A slow client makes the loop wait, never a thread.
    """
    gone = asyncio.ensure_future(_until_gone(receive))
    try:
        await send({"type": "http.response.start", "status": response.status, "headers": response.headers})
        chunk: bytes | None = b""
        while chunk is not None:
            job = in_thread(response.next)
            await asyncio.wait((job, gone), return_when=asyncio.FIRST_COMPLETED)
            await _cancel_until_done(job, cancel)
            chunk = await job
            if gone.done():
                return
            if chunk or chunk is None:
                await send({"type": "http.response.body", "body": chunk or b"", "more_body": chunk is not None})
    except Canceled:
        pass
    finally:
        gone.cancel()
        await in_thread(response.close)
