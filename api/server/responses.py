"""Problems found before an endpoint is reached, whole and streamed responses, and clients that leave."""

import asyncio
from collections.abc import Callable
from typing import Any

from api.http.receive import ClientGone, drain
from api.http.request import Receive, Send, new_request_id
from api.http.responses import encoded, problem_response
from api.http.wsgi import StreamedResponse, WholeResponse
from api.problems import CATALOGUE, Problem

BUFFERED = 64 * 1024
"""Bytes of a response that the server takes at once. Of a longer one, it takes the end when the client has taken most
of the rest."""


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


async def wait_until_done(job: "asyncio.Future[Any]", receive: Receive, withdraw: Callable[[], bool]) -> None:
    """Wait for a job, or until the client leaves. Raises ClientGone if the job had not started then."""
    gone = asyncio.ensure_future(_until_gone(receive))
    try:
        await asyncio.wait((job, gone), return_when=asyncio.FIRST_COMPLETED)
        if not job.done() and withdraw():
            raise ClientGone
    finally:
        gone.cancel()


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def send_stream(
    send: Send,
    receive: Receive,
    response: StreamedResponse,
    in_thread: "Callable[[Callable[[], Any]], asyncio.Future[Any]]",
) -> None:
    """Send a response chunk by chunk, until it is complete or the client has left.

    A slow client makes the loop wait, never a thread.
    """
    gone = asyncio.ensure_future(_until_gone(receive))
    try:
        await send({"type": "http.response.start", "status": response.status, "headers": response.headers})
        chunk: bytes | None = b""
        while chunk is not None and not gone.done():
            chunk = await in_thread(response.next)
            if chunk or chunk is None:
                await send({"type": "http.response.body", "body": chunk or b"", "more_body": chunk is not None})
    finally:
        gone.cancel()
        await in_thread(response.close)
