"""The victim of an attack: an account that sends one-time passwords at a steady rate, and what it felt."""

import http.client
import itertools
import json
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import text

from bulksms.local.ports import LOOPBACK
from tests.harness.house import House
from tests.harness.receiver import Post, receiver
from tests.hostile.signed_in import a_person

RATE = 25
"""Single sends a second, each on a connection of its own and begun when it is due, however long the others take."""
OTHERS_EVERY = 25
"""After so many sends it asks for something else, in turn."""
PATIENCE = 30.0
FIRST_PHONE = 254_100_000_000
LARGE = 6_000
"""Phones of a quote whose body is larger than 64 kB."""
AT_CARRIER = text("SELECT message_id, at FROM simulated_submit WHERE phone BETWEEN :first AND :last")


@dataclass(frozen=True, slots=True)
class Asked:
    """One request: when it was due, how many seconds its answer took from then, and its status, None for no answer."""

    what: str
    due: float
    seconds: float
    status: int | None
    body: Any


class Victim:
    """Sends within `with`. Times are of `time.monotonic`."""

    def __init__(self, house: House) -> None:
        self._house = house
        self._phones = itertools.count(FIRST_PHONE)
        self.posts: dict[UUID, float] = {}
        """When its webhook was told of each message, in seconds after it was accepted."""
        self.asked: list[Asked] = []
        self._other_requests = itertools.cycle(self._others())

    def start(self, console_port: int) -> None:
        """Have the account, the receiver of its webhook, and a person who is signed in at the console."""
        account = self._house.new_account("victim")
        self._page = f"/accounts/{account}/live/"
        self._console_port = console_port
        self.person = a_person(self._house, account, console_port)
        self._headers = {"Content-Type": "application/json", "Authorization": f"Bearer {self._house.token}"}
        self.key = self._house.key
        self._receiving = receiver(self._note)
        url = self._receiving.__enter__().url
        self._house.post("/webhooks", url=url, events=["message.sent"])

    def stop(self) -> None:
        """End the receiver."""
        self._receiving.__exit__(None, None, None)

    def __enter__(self) -> "Victim":
        self.asked = []
        self._over = threading.Event()
        self._pool = ThreadPoolExecutor(256, "victim")
        self._thread = threading.Thread(target=self._run, name="victim")
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
        self._pool.shutdown()

    def delays(self, asked: list[Asked]) -> list[float]:
        """Seconds from the acceptance of each message until the carrier has it; of those that it has."""
        phones = [int(each.body["phone"]) for each in asked if each.what == "send" and each.status == 200]
        if not phones:
            return []
        with self._house.engine.connect() as connection:
            rows = connection.execute(AT_CARRIER, {"first": min(phones), "last": max(phones)}).all()
        return [row.at.timestamp() - accepted_at(row.message_id) for row in rows]

    def _run(self) -> None:
        begin = time.monotonic()
        for number in itertools.count():
            due = begin + number / RATE
            if self._over.wait(max(0.0, due - time.monotonic())):
                return
            phone = str(next(self._phones))
            body = {"sender_id": "ACME", "phone": phone, "message": "Code 1234", "category": "authentication"}
            self._pool.submit(self._ask, "send", "POST", "/sms/send", body, due)
            if number % OTHERS_EVERY == OTHERS_EVERY - 1:
                self._pool.submit(self._ask, *next(self._other_requests), due)
                self._pool.submit(self._open_page, due)

    def _others(self) -> Iterator[tuple[str, str, str, Any]]:
        yield "token", "POST", "/auth/token", self.key._asdict()
        yield "balance", "GET", "/balance", None
        phones = [str(FIRST_PHONE + number) for number in range(LARGE)]
        yield "quote", "POST", "/sms/quote", {"sender_id": "ACME", "phones": phones, "message": "Hi"}

    def _ask(self, what: str, method: str, path: str, body: Any, due: float) -> None:
        status, answer = None, None
        connection = http.client.HTTPConnection(LOOPBACK, self._house.port, timeout=PATIENCE)
        try:
            data = None if body is None else json.dumps(body)
            connection.request(method, f"/api/v1{path}", data, self._headers)
            answered = connection.getresponse()
            answer, status = json.loads(answered.read()), answered.status
        except (OSError, http.client.HTTPException) as error:
            answer = repr(error)
        finally:
            connection.close()
        self.asked.append(Asked(what, due, time.monotonic() - due, status, answer))

    def _open_page(self, due: float) -> None:
        status, answer = None, None
        connection = http.client.HTTPConnection(LOOPBACK, self._console_port, timeout=PATIENCE)
        try:
            connection.request("GET", self._page, headers={"Cookie": self.person.cookie})
            answered = connection.getresponse()
            answer, status = answered.read().decode(), answered.status
        except (OSError, http.client.HTTPException) as error:
            answer = repr(error)
        finally:
            connection.close()
        self.asked.append(Asked("page", due, time.monotonic() - due, status, answer))

    def _note(self, post: Post) -> int:
        message = UUID(post.told["data"]["message_id"])
        self.posts[message] = time.time() - accepted_at(message)
        return 204


def accepted_at(message: UUID) -> float:
    """When a message was accepted, by its id (RFC 9562 §5.7), in seconds since 1970."""
    return (message.int >> 80) / 1000
