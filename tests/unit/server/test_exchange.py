"""What is counted and logged of a request and its response."""

import asyncio
import logging
from typing import Any

import pytest

from api.http.wsgi import WholeResponse
from api.server import exchange
from api.server.exchange import CLIENT_LEFT, Exchange, Observed
from api.server.responses import send_whole
from tests.harness.on_the_loop import scope

GONE = {"type": "http.disconnect"}


def part(data: bytes = b"", more: bool = False) -> dict[str, Any]:
    return {"type": "http.request", "body": data, "more_body": more}


async def exchanged(request: dict[str, Any], *came: dict[str, Any]) -> tuple[Exchange, list[Any]]:
    """An exchange that receives all of what came, and then sends a response; and what the server was told to send."""
    left, sent = list(came), list[Any]()

    async def receive() -> Any:
        return left.pop(0)

    async def send(message: Any) -> None:
        sent.append(message)

    made = Exchange(request, receive, send)
    for _ in came:
        await made.receive()
    await send_whole(made.send, made.receive, WholeResponse(201, [(b"content-length", b"3")], b"abc"))
    return made, sent


@pytest.fixture(name="counted")
def _counted(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, bool]]:
    """The status of each response that is counted, and whether its request was complete."""
    found: list[tuple[int, bool]] = []
    monkeypatch.setattr(exchange, "count_response", lambda _, status, seconds: found.append((status, seconds > 0)))
    return found


def test_a_response_before_the_end_of_the_request_has_no_duration(counted: list[tuple[int, bool]]) -> None:
    made, _ = asyncio.run(exchanged(scope(), part(b"a", True)))
    assert (made.seconds(), counted) == (0, [(201, False)])


def test_a_client_that_has_left_gets_no_response(counted: list[tuple[int, bool]]) -> None:
    made, sent = asyncio.run(exchanged(scope(), part(), GONE))
    assert (made.status, sent, counted) == (CLIENT_LEFT, [], [])


def test_what_is_logged_is_written_before_the_process_ends(caplog: pytest.LogCaptureFixture) -> None:
    async def fails(*_: Any) -> None:
        raise ValueError("a mistake")

    async def run() -> list[str]:
        served, sent, came = Observed(fails), list[Any](), asyncio.Queue[Any]()  # type: ignore[arg-type]

        async def send(message: Any) -> None:
            sent.append(message)

        living = asyncio.create_task(served({"type": "lifespan"}, came.get, send))
        came.put_nowait({"type": "lifespan.startup"})
        while not sent:
            await asyncio.sleep(0)
        request = scope(headers=[(b"host", b"a")])
        await served(request, came.get, send)
        came.put_nowait({"type": "lifespan.shutdown"})
        await living
        return [str(message.get("status", message["type"])) for message in sent]

    with caplog.at_level(logging.INFO, "api.requests"):
        assert asyncio.run(run()) == [
            "lifespan.startup.complete",
            "500",
            "http.response.body",
            "lifespan.shutdown.complete",
        ]
    assert [record.message for record in caplog.records if record.name == "api.requests"] == ["request"]
