"""Any history of a phone's verifications: codes sent and checked at once, crashes, changed settings, time that passes.
The states are those of a model, no more wrong codes are compared than allowed, and what counts as sent is sent once."""

from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from sqlalchemy import Engine, text

import api.accept.accept
import api.commit.commit
import api.resources.verifications.routes
from shared.audit.check import audit
from tests.harness.service import Service
from tests.integration.verifications.test_verifications import (
    check,
    code_in,
    configure,
    pass_seconds,
    start,
    text_of,
    wrong,
)

VALIDITY = 3600
PHONES = count(254_722_000_000)
THREADS = 6
SENT = text(
    "SELECT s.id AS send_id, v.id FROM send s JOIN verification v ON v.id = s.verification_id WHERE v.phone = :phone"
)
AT_ONCE = st.integers(1, THREADS)


@dataclass(slots=True)
class Model:
    """What a verification should be."""

    id: str
    code: str
    max_checks: int
    sends: int = 1
    checks: int = 0
    since_sent: int = 0
    approved: bool = False
    replaced: bool = False

    @property
    def is_over(self) -> bool:
        return self.since_sent >= VALIDITY

    @property
    def is_exhausted(self) -> bool:
        return self.checks >= self.max_checks

    @property
    def status(self) -> str:
        states = {"approved": self.approved, "replaced": self.replaced, "expired": self.is_over}
        return next(
            (name for name, applies in {**states, "exhausted": self.is_exhausted}.items() if applies), "pending"
        )

    @property
    def refusal(self) -> str | None:
        """What any check says; None if its code is compared."""
        states = {"replaced": self.replaced, "expired": self.is_over, "exhausted": self.is_exhausted}
        return next((name for name, applies in states.items() if applies), None)


@contextmanager
def crashing(where: Any, name: str, point: str | None = None) -> Iterator[None]:
    """Let a function raise; with a `point`, only when it is called with that."""

    def crash(*given: Any) -> None:
        if point in (None, *given):
            raise RuntimeError("crash")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(where, name, crash)
        yield


class History(RuleBasedStateMachine):
    """The verifications of one phone."""

    service: Service

    @initialize()
    def begin(self) -> None:
        self.phone = str(next(PHONES))
        self.made: list[Model] = []
        self.change(pause=0, checks=3, sends=3)

    def at_once(self, calls: list[Callable[[], Any]]) -> list[Any]:
        with ThreadPoolExecutor(THREADS) as pool:
            return [each.result() for each in [pool.submit(call) for call in calls]]

    def post(self, path: str, **body: Any) -> int:
        """The response's status; a crash is a 500."""
        headers = {"Authorization": f"Bearer {self.service.token}"}
        return self.service.client.post(f"/api/v1{path}", json=body, headers=headers).status_code

    def is_sent(self) -> bool:
        """Whether another request is accepted, which then counts. Those of a new one are to be learned."""
        last = self.made[-1] if self.made else None
        if last is None or last.approved or last.is_over:
            if last is not None:
                last.replaced = not last.approved
            self.made.append(Model("", "", self.checks))
            return True
        pause = self.pause << (last.sends - 1)
        if last.is_exhausted or last.sends >= self.sends or last.since_sent < pause:
            return False
        last.sends, last.since_sent = last.sends + 1, 0
        return True

    def learn(self) -> None:
        """Read the newest verification, whose response was lost."""
        self.made[-1].id = self.service.get(f"/verifications?phone={self.phone}").json["data"][0]["verification_id"]
        sent = self.service.execute(SENT, phone=int(self.phone))
        own = next(row for row in sent if str(row.id) == self.made[-1].id)
        self.made[-1].code = code_in(self.service, own._mapping)

    @rule(pause=st.sampled_from([0, 600]), checks=st.integers(1, 3), sends=st.integers(1, 3), digits=st.integers(4, 8))
    def change(self, pause: int, checks: int, sends: int, digits: int = 6) -> None:
        self.pause, self.checks, self.sends = pause, checks, sends
        of_account = {"pause_seconds": pause, "max_checks": checks, "max_sends": sends, "code_digits": digits}
        configure(self.service, valid_minutes=60, **of_account)

    @rule(seconds=st.sampled_from([600, 1200, VALIDITY]))
    def wait(self, seconds: int) -> None:
        pass_seconds(self.service, self.phone, seconds)
        for each in self.made:
            each.since_sent += seconds

    @rule(requests=AT_ONCE)
    def send(self, requests: int) -> None:
        responses = self.at_once([lambda: start(self.service, self.phone)] * requests)
        sent = [self.is_sent() for _ in range(requests)]
        assert Counter(each.status_code == 200 for each in responses) == Counter(sent)
        self.learn()
        accepted = [each.json for each in responses if each.status_code == 200]
        assert {each["verification_id"] for each in accepted} <= {self.made[-1].id}
        last = self.made[-1].sends
        assert sorted(each["sends"] for each in accepted) == list(range(last - len(accepted) + 1, last + 1))

    @rule(committed=st.booleans())
    def send_and_crash(self, committed: bool) -> None:
        where = api.accept.accept if committed else api.commit.commit
        with crashing(where, "crashpoint", "accept.committed" if committed else "accept.before_commit"):
            status = self.post("/verifications", sender_id="ACME", phone=self.phone)
        if committed and self.is_sent():
            assert status == 500
            self.learn()
        else:
            assert status in (429, 500)

    @precondition(lambda self: self.made)
    @rule(which=st.integers(0, 9), right=st.integers(0, 3), wrong_ones=st.integers(0, 4))
    def enter(self, which: int, right: int, wrong_ones: int) -> None:
        of = self.made[which % len(self.made)]
        codes = [of.code] * right + [wrong(of.code)] * wrong_ones
        calls = [lambda code=code: check(self.service, {"verification_id": of.id}, code) for code in codes]
        results = self.at_once(calls)  # type: ignore[arg-type]
        of_right, of_wrong = results[:right], results[right:]
        if of.refusal is not None:
            assert set(results) <= {(of.refusal, 0)}
            return
        left = of.max_checks - of.checks
        compared = [("pending" if each else "exhausted", each) for each in reversed(range(left))][:wrong_ones]
        assert Counter(of_wrong) == Counter([*compared, *[("exhausted", 0)] * (wrong_ones - len(compared))])
        approved = [each for each in of_right if each[0] == "approved"]
        assert set(of_right) - set(approved) <= ({("exhausted", 0)} if wrong_ones >= left else set())
        of.checks += len(compared)
        of.approved = of.approved or bool(approved)

    @precondition(lambda self: self.made)
    @rule(which=st.integers(0, 9), right=st.booleans())
    def enter_and_crash(self, which: int, right: bool) -> None:
        of = self.made[which % len(self.made)]
        with crashing(api.resources.verifications.routes, "compare_digest"):
            status = self.post(f"/verifications/{of.id}/check", code=of.code if right else wrong(of.code))
        assert status == (500 if of.refusal is None else 200)

    @precondition(lambda self: self.made)
    @rule()
    def enter_while_sending(self) -> None:
        of = self.made[-1]
        if of.status != "pending":  # not a precondition: races decide it, and what is drawn must not depend on them
            return
        of_check, of_start = self.at_once(
            [lambda: check(self.service, {"verification_id": of.id}, of.code), lambda: start(self.service, self.phone)]
        )
        assert of_check[0] == "approved"
        is_new = of_start.status_code == 200 and of_start.json["verification_id"] != of.id
        if of_start.status_code == 200 and not is_new:
            assert self.is_sent()
        of.approved = True
        if is_new:
            assert self.is_sent()
            self.learn()

    @invariant()
    def it_is_as_the_model_says(self) -> None:
        listed = self.service.get(f"/verifications?phone={self.phone}").json["data"]
        shown = [(each["verification_id"], each["status"], each["sends"], each["checks_left"]) for each in listed]
        assert shown[::-1] == [(each.id, each.status, each.sends, each.max_checks - each.checks) for each in self.made]
        sent = self.service.execute(SENT, phone=int(self.phone))
        assert Counter(str(row.id) for row in sent) == Counter({each.id: each.sends for each in self.made})
        codes = {each.id: each.code for each in self.made}
        assert all(text_of(self.service, row._mapping).startswith(codes[str(row.id)]) for row in sent)


def test_any_history(engine: Engine) -> None:
    History.service = Service(engine, credits=100_000, recipient_limits=(0, 0, 0))
    run_state_machine_as_test(History, settings=settings(max_examples=25, stateful_step_count=15))
    assert audit(engine, full=True) == []
