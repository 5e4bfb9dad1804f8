"""A message enters the files that docs/explanation/architecture.md names, as many as it says, and no others."""

import asyncio
import gc
import json
import re
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import FrameType, SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import Engine, text

import api
from api.app import create_app
from api.endpoint import direct_endpoint
from api.event_loop import ThreadOnlyPool
from api.server.application import Application, Owners
from api.server.exchange import Observed
from api.services import Services
from shared.db.connection import make_engine
from shared.task_queue import make_celery
from tests.harness.served import served
from tests.harness.service import Service
from tests.harness.times import ahead

ROOT = Path(api.__file__).parent.parent
PAGE = ROOT / "docs" / "explanation" / "architecture.md"
PACKAGES = ("api", "worker", "shared")
ACCEPTING = ("api/accept/", "api/commit/", "shared/task_publisher.py")
"""Where the accepting of a send begins: in the request's thread, in the thread that commits, and in the publisher's."""
CONTENT_LENGTH = re.compile(rb"content-length: (\d+)", re.IGNORECASE)


def documented(part: str) -> set[str]:
    """The files and rooms that the page names for a part of the way."""
    _, _, rest = PAGE.read_text().partition(f"**{part}**")
    table = re.split(r"\n\n", rest)[1]
    return set(re.findall(r"`((?:api|worker|shared)/[\w/.]*)`", table))


def figures(part: str) -> list[int]:
    """The numbers in the sentence below a part's table: its files, and the calls between them."""
    sentence = re.search(rf"^{part} enters [^.]*\.", PAGE.read_text(), re.MULTILINE)
    assert sentence, f"the page does not say what {part} enters"
    return [int(number) for number in re.findall(r"\d+", sentence[0])]


def file_of(frame: FrameType) -> str | None:
    """The file of the project that a function is in."""
    path = frame.f_code.co_filename
    name = path.removeprefix(f"{ROOT}/")
    return name if name != path and name.startswith(PACKAGES) else None


class Tracer:
    """The files of the project in which a function is called while it is on, in the thread that starts it."""

    def __init__(self) -> None:
        self.entered: set[str] = set()
        self.accepting: set[str] = set()
        """Those entered from within the accepting of a send: from `accept()` on, and in the threads that it starts."""
        self.calls: set[tuple[str, str, str]] = set()
        """From one file to another: the calling file and function, and the file that is called, each counted once."""
        self.on = False

    def start(self, *, new_threads: bool = False) -> None:
        """Trace the calls of this thread and, with `new_threads`, of those that start later. Garbage is not collected
        meanwhile: finalizers of other tests' objects would be traced too."""
        gc.collect()
        gc.disable()
        if new_threads:
            threading.setprofile(self)
        sys.setprofile(self)

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        called = file_of(frame) if self.on and event == "call" else None
        if called is None:
            return
        self.entered.add(called)
        callers = [(file, each) for each in callers_of(frame) if (file := file_of(each))]
        if any(file.startswith(ACCEPTING) for file in (called, *(file for file, _ in callers))):
            self.accepting.add(called)
        if callers and callers[0][0] != called:
            function = callers[0][1].f_code.co_qualname.partition(".<locals>")[0]
            self.calls.add((callers[0][0], function, called))


def callers_of(frame: FrameType) -> Iterator[FrameType]:
    """The frames above, from the nearest one."""
    while frame.f_back is not None:
        frame = frame.f_back
        yield frame


@pytest.fixture
def tracer() -> Iterator[Tracer]:
    """One that the test starts, and that is stopped after it."""
    yield Tracer()
    sys.setprofile(None)
    threading.setprofile(None)  # type: ignore[arg-type]
    gc.enable()


def unnamed(entered: set[str], named: set[str]) -> set[str]:
    """Files that were entered and that the page does not name, neither themselves nor by their room."""
    return {file for file in entered if file not in named and f"{file.rpartition('/')[0]}/" not in named}


def unused(entered: set[str], named: set[str]) -> set[str]:
    """What the page names and nothing entered."""
    return {name for name in named if not any(file == name or file.startswith(name) for file in entered)}


async def send(port: int, token: str, times: int, tracer: Tracer, services: Services) -> None:
    """Send to one phone several times over one connection, the last time traced."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for number in range(times):
        tracer.on = number == times - 1
        body = {"sender_id": "ACME", "phone": f"25471100000{number}", "message": "Hi"}
        encoded = json.dumps(body).encode()
        lines = [
            "POST /api/v1/sms/send HTTP/1.1",
            "Host: localhost",
            "Content-Type: application/json",
            f"Authorization: Bearer {token}",
            f"Content-Length: {len(encoded)}",
        ]
        writer.write("\r\n".join([*lines, "", ""]).encode() + encoded)
        response = await reader.readuntil(b"\r\n\r\n")
        assert response.startswith(b"HTTP/1.1 200"), response
        length = CONTENT_LENGTH.search(response)
        assert length
        await reader.readexactly(int(length[1]))
        await what_follows_the_response(services)
    tracer.on = False
    writer.close()
    await writer.wait_closed()


async def what_follows_the_response(services: Services) -> None:
    """Wait until nothing is left to do: on the event loop, in the thread that commits, and in the publisher's."""
    async with asyncio.timeout(60):
        while services.commits._queues or services.tasks._calls or services.tasks._singles:
            await asyncio.sleep(0.01)
    for _ in range(100):
        await asyncio.sleep(0)


def test_accepting(engine: Engine, tracer: Tracer, monkeypatch: pytest.MonkeyPatch) -> None:
    now = time.monotonic()  # what the first request has looked up is still known to the last, on a slow machine too
    monkeypatch.setattr("api.account_cache.time", SimpleNamespace(monotonic=lambda: now))
    for seconds in ("FRESH", "USED_EVERY"):
        monkeypatch.setattr(f"api.auth.tokens.{seconds}", 3600.0)
    monkeypatch.setattr("api.server.request_log.FLUSH_SECONDS", 3600.0)
    service = Service(engine)
    own_engine = make_engine(service.settings.database_url, 4, "bulksms-api", pool_class=ThreadOnlyPool)
    celery = make_celery(replace(service.settings, eager=False))  # whose broker nobody listens to
    app = create_app(service.settings, engine=own_engine, celery=celery)
    services = app.extensions["bulksms"]
    owners = Owners(services)
    application = Application(app.wsgi_app, direct_endpoint("POST", "/sms/send", services), owners)

    async def serve() -> None:
        async with served(Observed(application)) as port:
            await send(port, service.token, 3, tracer, services)

    named = documented("Accepting")
    tracer.start(new_threads=True)
    asyncio.run(serve())
    own_engine.dispose()
    assert (unnamed(tracer.entered, named), unused(tracer.entered, named)) == (set(), set())
    assert figures("Accepting") == [len(tracer.entered), len(tracer.accepting), len(tracer.calls)]


def test_sending(engine: Engine, tracer: Tracer, monkeypatch: pytest.MonkeyPatch) -> None:
    now = time.monotonic()  # so that a cycle takes no time, on a slow machine too
    monkeypatch.setattr("worker.sending.dispatch.time", SimpleNamespace(monotonic=lambda: now))
    service = Service(engine)
    service.send(phone="254711000001")
    send_id = service.send(phone="254711000002", send_at=ahead()).json["send_id"]
    with engine.begin() as connection:
        due = "UPDATE batch SET state = 'queued', due_at = now() - interval '1 second' WHERE send_id = :send"
        assert connection.execute(text(due), {"send": send_id}).rowcount == 1
    tracer.start()
    tracer.on = True
    service.celery.tasks["worker.send_batch"].apply()
    tracer.on = False
    assert service.counts(send_id)["submitted"] == 1
    named = documented("Sending")
    assert (unnamed(tracer.entered, named), unused(tracer.entered, named)) == (set(), set())
    assert figures("Sending") == [len(tracer.entered), len(tracer.calls)]
