"""The victim of an attack: an account that sends one-time passwords at a steady rate, and what it felt."""

import http.client
import itertools
import json
import math
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import text

from bulksms.local.ports import LOOPBACK
from shared.accounts.limits import set_limits
from tests.harness.house import House
from tests.harness.receiver import Post, receiver
from tests.hostile.signed_in import a_person

RATE = 25
"""Single sends a second, each on a connection of its own and begun when it is due, however long the others take."""
OTHERS_EVERY = 25
"""After so many sends it asks for something else, in turn."""
PATIENCE = 120.0
FIRST_PHONE = 254_100_000_000
ADDRESS = "127.0.2.1"
"""The victim's own: none of the attackers', and no proxy, so that it counts against the limits by address."""
LARGE = 6_000
"""Phones of a quote whose body is larger than 64 kB."""
BULK = 450
"""Recipients of a bulk send whose body is larger than 64 kB: names make it so, as messages take time."""
LONG_NAME = "a" * 150
GROUP = 20
FIRST_OF_BULK = 254_400_000_000
FIRST_OF_GROUP = 254_500_000_000
GROUP_SENDS = text("SELECT extract(epoch FROM completed_at - created_at) FROM send WHERE id = ANY(:ids)")
AT_CARRIER = text("SELECT message_id, at FROM simulated_submit WHERE phone BETWEEN :first AND :last")


@dataclass(frozen=True, slots=True)
class Request:
    """One request: when it was due, seconds from then to its response, and its status, None for no response."""

    what: str
    due: float
    seconds: float
    status: int | None
    body: Any


class Victim:
    """Sends within `with`. Times are of `time.monotonic`."""

    def __init__(self, house: House) -> None:
        self._house = house
        self.port = house.port
        """Of the API, or of nginx before it."""
        self._phones = itertools.count(FIRST_PHONE)
        self._posts: dict[UUID, float] = {}
        """When the first event of each message reached its webhook, in seconds after it was accepted."""
        self._opening = threading.Lock()
        """Held while a page is on its way."""
        self.requests: list[Request] = []

    def start(self, console_port: int) -> None:
        """Have the account, the receiver of its webhook, and a person who is signed in at the console."""
        account = self._house.new_account("victim")
        self._page = f"/accounts/{account}/live/"
        self._console_port = console_port
        self.person = a_person(self._house, account, console_port)
        self._headers = {"Content-Type": "application/json", "Authorization": f"Bearer {self._house.token}"}
        self.key = self._house.key
        with self._house.engine.begin() as connection:
            set_limits(connection, account, recipient_transactional=0)  # its group gets many messages
        self._group = self._house.new_group(account, GROUP, FIRST_OF_GROUP)
        self._first_bulk = self._house.post("/sms/send-bulk", **bulk(FIRST_OF_BULK))["send_id"]
        self._other_requests = self._others()
        self._receiving = receiver(self._note)
        url = self._receiving.__enter__().url
        self._house.post("/webhooks", url=url, events=["message.sent"])

    def stop(self) -> None:
        """End the receiver."""
        self._receiving.__exit__(None, None, None)

    def __enter__(self) -> "Victim":
        self.requests = []
        self._over = threading.Event()
        self._pool = ThreadPoolExecutor(256, "victim")
        self._thread = threading.Thread(target=self._run, name="victim")
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
        self._pool.shutdown()

    def delays(self, requests: list[Request]) -> list[float]:
        """Seconds from the acceptance of each message until the carrier has it; of those that it has."""
        phones = [int(each.body["phone"]) for each in accepted(requests)]
        if not phones:
            return []
        with self._house.engine.connect() as connection:
            rows = connection.execute(AT_CARRIER, {"first": min(phones), "last": max(phones)}).all()
        return [row.at.timestamp() - accepted_at(row.message_id) for row in rows]

    def group_delays(self, requests: list[Request]) -> list[float]:
        """Seconds from the acceptance of each group send until the carrier has all of it; NaN where it has not."""
        ids = [UUID(each.body["send_id"]) for each in requests if each.what == "group" and each.status == 200]
        with self._house.engine.connect() as connection:
            seconds = connection.execute(GROUP_SENDS, {"ids": ids}).scalars()
            return [math.nan if each is None else float(each) for each in seconds]

    def webhook_delays(self, requests: list[Request]) -> list[float]:
        """Seconds from the acceptance of each message until the webhook got its event; of those whose event arrived."""
        messages = [UUID(each.body["message_id"]) for each in accepted(requests)]
        return [self._posts[message] for message in messages if message in self._posts]

    def _run(self) -> None:
        begin = time.monotonic()
        for turn in itertools.count():
            due = begin + turn / RATE
            if self._over.wait(max(0.0, due - time.monotonic())):
                return
            phone = str(next(self._phones))
            body = {"sender_id": "ACME", "phone": phone, "message": "Code 1234", "category": "authentication"}
            self._pool.submit(self._ask, "send", "POST", "/sms/send", body, due)
            if int(phone) % OTHERS_EVERY == 0:
                self._pool.submit(self._ask, *next(self._other_requests), due)
                self._pool.submit(self._open_page, due)

    def _others(self) -> Iterator[tuple[str, str, str, Any]]:
        quoted = [str(FIRST_PHONE + number) for number in range(LARGE)]
        for number in itertools.count(1):
            yield "token", "POST", "/auth/token", self.key._asdict()
            yield "bulk", "POST", "/sms/send-bulk", bulk(FIRST_OF_BULK + number * BULK)
            yield "balance", "GET", "/balance", None
            yield "group", "POST", "/sms/send-group", {"sender_id": "ACME", "group_id": self._group, "message": "Hi"}
            yield "csv", "GET", f"/sends/{self._first_bulk}/messages", None
            yield "quote", "POST", "/sms/quote", {"sender_id": "ACME", "phones": quoted, "message": "Hi"}

    def _ask(self, what: str, method: str, path: str, body: Any, due: float) -> None:
        data = None if body is None else json.dumps(body)
        headers = {**self._headers, "Accept": "text/csv" if what == "csv" else "application/json"}
        status, response = self._request(self.port, method, f"/api/v1{path}", data, headers)
        content = json.loads(response) if status is not None and what != "csv" else response
        self.requests.append(Request(what, due, time.monotonic() - due, status, content))

    def _open_page(self, due: float) -> None:
        """Open a page, unless the one before has not come yet: a session has a limit of pages at the same time."""
        if not self._opening.acquire(blocking=False):
            return
        try:
            cookie = {"Cookie": self.person.cookie}
            status, response = self._request(self._console_port, "GET", self._page, None, cookie)
        finally:
            self._opening.release()
        self.requests.append(Request("page", due, time.monotonic() - due, status, response))

    def _request(
        self, port: int, method: str, path: str, data: str | None, headers: dict[str, str]
    ) -> tuple[int | None, str]:
        """One request on a connection of its own: the status and the body, or None and what went wrong."""
        connection = http.client.HTTPConnection(LOOPBACK, port, timeout=PATIENCE, source_address=(ADDRESS, 0))
        try:
            connection.request(method, path, data, headers)
            answered = connection.getresponse()
            return answered.status, answered.read().decode()
        except (OSError, http.client.HTTPException) as error:
            return None, repr(error)
        finally:
            connection.close()

    def _note(self, post: Post) -> int:
        message = UUID(post.payload["data"]["message_id"])
        self._posts.setdefault(message, time.time() - accepted_at(message))
        return 204


def accepted(requests: list[Request]) -> list[Request]:
    """The single sends that were accepted."""
    return [each for each in requests if each.what == "send" and each.status == 200]


def bulk(first: int) -> dict[str, Any]:
    """A bulk send to consecutive phones."""
    phones = [{"phone": str(first + number), "variables": {"name": LONG_NAME}} for number in range(BULK)]
    return {"sender_id": "ACME", "phones": phones, "message": "Hi {{name}}"}


def accepted_at(message: UUID) -> float:
    """When a message was accepted, by its id (RFC 9562 §5.7), in seconds since 1970."""
    return (message.int >> 80) / 1000
