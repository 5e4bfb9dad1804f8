"""A client as clients should be: each send has a key, and without a response it is repeated with the same key."""

import contextlib
import http.client
import threading
import time
from dataclasses import dataclass, field
from typing import Any

from tests.harness.house import House, wait_until

PAUSE = 0.05
PATIENCE = 60.0
"""Seconds that the client waits for one response."""
REFUSED = {400, 402, 403, 404, 422}
MAY_BE = {200, 503, 504} | REFUSED
IN_PROGRESS = "idempotency_in_progress"
"""The code of the 409 for a request that is repeated while the first one is still at work."""


@dataclass(slots=True)
class Try:
    """One request: its status, None where the connection broke, and the body of the response."""

    status: int | None
    body: Any
    seconds: float


@dataclass(slots=True)
class Wanted:
    """One single send and all that was tried for it."""

    key: str
    request: dict[str, Any]
    tries: list[Try] = field(default_factory=list)

    @property
    def accepted(self) -> Any:
        """The response of the first 200, or None."""
        return next((each.body for each in self.tries if each.status == 200), None)


class Traffic(threading.Thread):
    """Posts single sends, one after the other, until `stop`."""

    def __init__(self, house: House, first_phone: int, name: str) -> None:
        super().__init__(name="traffic", daemon=True)
        self.house = house
        self.token = house.token
        self._key = house.key
        self.wanted: list[Wanted] = []
        self._first_phone = first_phone
        self._name = name
        self._over = threading.Event()

    def run(self) -> None:
        while not self._over.wait(PAUSE):
            number = len(self.wanted)
            request = {"sender_id": "ACME", "phone": str(self._first_phone + number), "message": "Hi"}
            wanted = Wanted(f"{self._name}-{number}", {**request, "reference": f"{self._name}-{number}"})
            self.wanted.append(wanted)
            self.attempt(wanted)

    def stop(self) -> None:
        """Stop asking; the request under way ends first."""
        self._over.set()
        self.join(PATIENCE + 20)
        assert not self.is_alive()

    def failures(self) -> int:
        """How many requests got 503, 504 or no response so far."""
        return sum(each.status in (503, 504, None) for wanted in list(self.wanted) for each in wanted.tries)

    def renew(self) -> None:
        """Get another token for the same key."""
        self.token = self.house.post("/auth/token", **self._key._asdict())["access_token"]

    def attempt(self, wanted: Wanted) -> Try:
        """Ask once."""
        headers = {"Idempotency-Key": wanted.key, "Authorization": f"Bearer {self.token}"}
        began = time.monotonic()
        status, body = None, None
        with contextlib.suppress(OSError, http.client.HTTPException):
            status, body = self.house.try_request("POST", "/sms/send", wanted.request, headers, timeout=PATIENCE)
        wanted.tries.append(Try(status, body, time.monotonic() - began))
        return wanted.tries[-1]

    def settle(self, seconds: float = 60) -> None:
        """Ask again for all that has no 200, until each has one."""
        for wanted in self.wanted:
            if wanted.accepted is None:
                wait_until(lambda wanted=wanted: self.attempt(wanted).status == 200, seconds, wanted.key)

    def seconds(self, share: float) -> float:
        """So long took the given share of all first tries, at most."""
        took = sorted(wanted.tries[0].seconds for wanted in list(self.wanted) if wanted.tries)
        return took[min(len(took) - 1, int(len(took) * share))]

    def check_answers(self) -> None:
        """Only documented statuses in the documented shape, and each key has one effect."""
        for wanted in self.wanted:
            for each in wanted.tries:
                if each.status is None:
                    continue
                assert each.status in MAY_BE or (each.status == 409 and each.body["code"] == IN_PROGRESS), each
                if each.status == 200:
                    assert {"send_id", "message_id", "status", "cost", "balance"} <= set(each.body)
                else:
                    assert {"type", "title", "status", "code", "request_id"} <= set(each.body), each.body
            send_ids = [each.body["send_id"] for each in wanted.tries if each.status == 200]
            assert len(set(send_ids)) == 1, wanted
            again = self.attempt(wanted)
            assert (again.status, again.body["send_id"]) == (200, send_ids[0])
