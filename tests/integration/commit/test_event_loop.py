"""Sending to one phone as the API's event loop does it: with the responses that a thread gives, and without waste."""

import asyncio
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import Engine

from api.app import create_app
from api.handlers import direct_endpoint
from api.http.wsgi import WholeResponse
from api.server.application import Application, Owners
from tests.harness.database import api_engine
from tests.harness.on_the_loop import handled
from tests.harness.service import Service
from tests.harness.times import ahead


class Loop:
    """The API on an event loop, for one account. No worker is woken: its sends are for later."""

    def __init__(self, service: Service) -> None:
        self.service = service
        app = create_app(service.settings, engine=api_engine(service.engine), celery=service.celery)
        work = app.extensions["bulksms"]
        self.served = Application(app.wsgi_app, direct_endpoint("POST", "/sms/send", work), Owners(work))

    async def send(self, key: str | None = None, **more: Any) -> WholeResponse:
        """Send one message in 80 days."""
        due = datetime.now(UTC) + timedelta(days=80)
        body = {"sender_id": "ACME", "phone": "254711000000", "message": "Hi", "send_at": due.isoformat(), **more}
        headers = [(b"authorization", b"Bearer " + self.service.token.encode()), (b"content-type", b"application/json")]
        if key is not None:
            headers.append((b"idempotency-key", key.encode()))
        return await handled(self.served, headers, json.dumps(body).encode())


@pytest.fixture
def service(engine: Engine) -> Service:
    """A new account, which may send one phone as many messages as a test here does, if each is counted once."""
    return Service(engine, recipient_limits=(121, 121, 121))


@pytest.fixture
def loop(service: Service) -> Loop:
    return Loop(service)


def test_a_send_is_accepted_and_paid_for(loop: Loop) -> None:
    async def three() -> list[WholeResponse]:
        await loop.send()
        return await asyncio.gather(*(loop.send() for _ in range(3)))

    responses = asyncio.run(three())
    assert [response.status for response in responses] == [200] * 3
    assert sorted(json.loads(response.body)["balance"] for response in responses) == [996, 997, 998]
    assert loop.service.get("/balance").json["reserved"] == 4


def test_simultaneous_requests_with_one_key_have_one_effect(loop: Loop) -> None:
    due = (datetime.now(UTC) + timedelta(days=80)).isoformat()

    async def several() -> list[WholeResponse]:
        return await asyncio.gather(*(loop.send(key="order-1", send_at=due) for _ in range(5)))

    responses = asyncio.run(several())
    assert {(response.status, response.body) for response in responses} == {(200, responses[0].body)}
    assert sum((b"idempotency-replayed", b"true") in response.headers for response in responses) == 4
    assert loop.service.get("/balance").json["balance"] == 999


def test_if_a_group_commit_cannot_be_paid_each_send_is_tried_by_itself(service: Service, loop: Loop) -> None:
    async def two() -> list[WholeResponse]:
        await loop.send()
        return await asyncio.gather(*(loop.send(message="x" * 1600) for _ in range(120)))

    responses = asyncio.run(two())
    refused = [json.loads(response.body) for response in responses if response.status == 402]
    paid = sum(response.status == 200 for response in responses)
    assert paid == 999 // 11 and len(refused) == 120 - paid and {each["code"] for each in refused} == {"low_balance"}
    assert service.get("/balance").json["balance"] == 999 - 11 * paid


def test_a_phone_over_its_limit_is_refused_but_a_repeated_request_is_not(service: Service) -> None:
    service = Service(service.engine, recipient_limits=(2, 2, 2))
    loop = Loop(service)

    async def several() -> list[WholeResponse]:
        due = ahead()
        return [await loop.send(key, send_at=due) for key in ("one", "one", None, None, "one", "two")]

    responses = asyncio.run(several())
    assert [response.status for response in responses] == [200, 200, 200, 429, 200, 429]
    assert b"retry-after" in dict(responses[3].headers)
    assert service.get("/balance").json["balance"] == 998
