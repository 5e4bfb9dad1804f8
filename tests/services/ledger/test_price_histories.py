"""Random histories of an account: its ledger, usage, margin, statement and the audit agree to the last credit.

What a message must cost is computed here, from the prices as they were published. `HISTORIES=10000` makes it thorough.
"""

import os
import random
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from bulksms.local.postgres import Postgres
from shared.accounts.change_account import change_account
from shared.accounts.refunds import refund_message
from shared.accounts.refused import Refused
from shared.accounts.top_ups import adjust, top_up
from shared.audit.check import audit
from shared.periodic import do_all
from shared.prices.margin import margin
from tests.harness.database import disposable_database
from tests.harness.prices import valid_list
from tests.harness.service import Service
from worker.jobs.usage import count_one

HISTORIES = int(os.environ.get("HISTORIES", "60"))
AT_ONCE = 20
"""Histories of one database, which is audited after them."""
LATER = {"send_at": (datetime.now(UTC) + timedelta(days=1)).isoformat()}
COUNTRIES = ("254711", "254700", "4915112", "33612", "12025")
TEXTS = ("Hi", "Hello " * 40, "x" * 400)
UNSENT = "99902000001"
"""A phone that the simulated carrier refuses for good: its message costs nothing."""
CHARGED = ("sent", "delivered", "undelivered")


class History:
    """One account and what happens to it."""

    def __init__(self, service: Service, seed: int) -> None:
        self.service, self.rng = service, random.Random(seed)
        self.paid_in = self.rng.choice((0, 500, 20_000))
        self.account = service.new_account(f"history-{seed}", self.paid_in)
        self.token = service.new_token(self.account)
        self.name = f"list-{seed}"
        self.prices: dict[tuple[str, str], int] = {}
        self.refunded = 0
        self.phones = 0
        self.waiting: list[str] = []
        """Sends whose time has not come."""
        self.expected: dict[str, tuple[dict[tuple[str, str], int], str]] = {}
        """The prices and the category of each send."""

    def run(self) -> None:
        """Some steps, and then what waits is canceled."""
        steps = (self.publish, self.send, self.send, self.send_list, self.send_list, self.send_group, self.quote)
        more = (self.change_text, self.cancel, self.cancel_one, self.pay, self.adjust, self.refund, self.limit)
        for _ in range(self.rng.randint(4, 12)):
            self.rng.choice(steps + more)()
        while self.waiting:
            self.cancel()
        self.service.deliver_receipts()

    def post(self, path: str, **body: object) -> dict[str, object] | None:
        response = self.service.post(path, token=self.token, **body)
        assert response.status_code in (200, 400, 402, 409), response.json
        return response.json if response.status_code == 200 else None

    def phone(self) -> str:
        self.phones += 1
        if self.rng.random() < 0.1:
            return UNSENT
        return f"{self.rng.choice(COUNTRIES)}{self.phones:06}"

    def publish(self) -> None:
        prefixes = ["", "254", "25470", "49", "1", *(["33"] if self.rng.random() < 0.5 else [])]
        self.prices = {("", each): self.rng.choice((0, 1, 7, 90)) for each in prefixes}
        self.prices[("marketing", "254")] = self.rng.randint(0, 20)
        self.service.set_prices(
            *((*each, price) for each, price in self.prices.items()), name=self.name, account=self.account
        )

    def send(self) -> None:
        self._accepted(self.post("/sms/send", phone=self.phone(), **self._text()), self.last)

    def send_list(self) -> None:
        later = LATER if self.rng.random() < 0.5 else {}
        phones: list[object] = [self.phone() for _ in range(self.rng.randint(1, 6))]
        if self.rng.random() < 0.3:
            phones = [{"phone": each, "variables": {"n": "A" * self.rng.randint(1, 400)}} for each in phones]
            self._accepted(
                self.post("/sms/send-bulk", phones=phones, **{**self._text(), "message": "{{n}}"}), self.last
            )
        else:
            self._accepted(self.post("/sms/send-bulk", phones=phones, **self._text(), **later), self.last, later)

    def send_group(self) -> None:
        group = self.service.new_group(list({self.phone() for _ in range(self.rng.randint(1, 6))}), self.account)
        later = LATER if self.rng.random() < 0.3 else {}
        self._accepted(self.post("/sms/send-group", group_id=group, **self._text(), **later), self.last, later)

    def quote(self) -> None:
        body = {"phones": [self.phone() for _ in range(3)], **self._text()}
        quoted = self.post("/sms/quote", **body)
        if quoted is not None:
            before, category = dict(self.prices), self.last
            self.publish()
            sent = self.post("/sms/send-bulk", **body, quote_id=quoted["quote_id"])
            assert sent is None or sent["cost"] == quoted["cost"]
            if sent is not None:
                self.expected[str(sent["send_id"])] = before, category

    def change_text(self) -> None:
        if self.waiting:
            send = self.rng.choice(self.waiting)
            response = self.service.patch(f"/sends/{send}", token=self.token, message=self.rng.choice(TEXTS))
            over = response.json.get("send_status") in ("canceled", "completed")  # message by message
            assert response.status_code in (200, 402) or over, response.json

    def cancel(self) -> None:
        if self.waiting:
            self.rng.shuffle(self.waiting)
            self.post(f"/sends/{self.waiting.pop()}/cancel")

    def cancel_one(self) -> None:
        if self.waiting:
            messages = self.service.get(f"/sends/{self.rng.choice(self.waiting)}/messages", token=self.token).json[
                "data"
            ]
            if messages:
                self.post(f"/messages/{self.rng.choice(messages)['message_id']}/cancel")

    def pay(self) -> None:
        credits = self.rng.randint(1, 1000)
        self.service.transact(top_up, self.account, credits, "paid", f"{self.rng.random()}")
        self.paid_in += credits

    def adjust(self) -> None:
        credits = self.rng.choice((-50, -1, 1, 300))
        try:
            self.service.transact(adjust, self.account, credits, "a correction", f"{self.rng.random()}")
        except Refused:
            return
        self.paid_in += credits

    def limit(self) -> None:
        self.service.transact(change_account, self.account, {"credit_limit": self.rng.choice((0, 10, 5000))})

    def refund(self) -> None:
        self.service.deliver_receipts()
        charged = [row for row in self.messages() if row["status"] in CHARGED]
        if charged:
            row = self.rng.choice(charged)
            try:
                self.service.transact(refund_message, self.account, UUID(row["message_id"]), "late")
            except Refused:
                return
            self.refunded += row["cost"]

    def messages(self) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = self.service.get("/messages?limit=1000", token=self.token).json["data"]
        return rows

    def check(self) -> None:
        """Everything that tells of money, against the prices that were published."""
        messages = self.messages()
        charged = 0
        for row in messages:
            prices, category = self.expected[row["send_id"]]
            price = self._price(prices, category, row["phone"]) * row["segments"]
            assert row["cost"] == (price if row["status"] in CHARGED else 0), row
            charged += row["cost"]
        balance = self.service.get("/balance", token=self.token).json
        assert balance["reserved"] == 0
        assert balance["available"] == self.paid_in + self.refunded - charged
        usage = self.service.get("/usage", token=self.token).json
        assert sum(row["credits"] for row in usage["data"]) == charged
        with self.service.engine.connect() as connection:
            rows = [row for row in margin(connection, ["account"]) if row["account_id"] == self.account]
        assert sum(row["credits"] for row in rows) == charged
        statement = self.service.get(f"/statements/{datetime.now(UTC):%Y-%m}", token=self.token).json
        assert (statement["charges"], statement["refunds"]) == (-charged, self.refunded)
        assert statement["top_ups"] + statement["adjustments"] == self.paid_in
        assert statement["closing"] == balance["available"]
        assert sum(line["credits"] for line in statement["lines"]) == statement["closing"] - statement["opening"]

    def _text(self) -> dict[str, str]:
        self.last = self.rng.choice(("transactional", "marketing"))
        return {"sender_id": "ACME", "message": self.rng.choice(TEXTS), "category": self.last}

    def _accepted(self, sent: dict[str, object] | None, category: str, later: dict[str, str] | None = None) -> None:
        if sent is not None:
            self.expected[str(sent["send_id"])] = dict(self.prices), category
            if later:
                self.waiting.append(str(sent["send_id"]))

    @staticmethod
    def _price(prices: dict[tuple[str, str], int], category: str, phone: str) -> int:
        if not prices:
            return 1
        for each in (category, ""):
            for length in range(len(phone), -1, -1):
                if (each, phone[:length]) in prices:
                    return prices[each, phone[:length]]
        raise AssertionError(f"{phone} has no price")


@pytest.fixture
def service(postgres_server: Postgres) -> Iterator[Service]:
    with disposable_database(postgres_server) as engine:
        made = Service(engine)
        made.worker.simulator.response_delay = 0.0
        valid_list(engine, "costs", ("", "", 1), carrier="simulator")
        yield made


@pytest.mark.parametrize("first", range(0, HISTORIES, AT_ONCE))
def test_everything_that_tells_of_money_agrees(service: Service, first: int) -> None:
    histories = [History(service, seed) for seed in range(first, min(first + AT_ONCE, HISTORIES))]
    for history in histories:
        history.run()
    do_all(lambda: count_one(service.engine), threading.Event())
    for history in histories:
        history.check()
    assert audit(service.engine, full=True) == []
