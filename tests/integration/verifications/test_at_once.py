"""Verifications under concurrent sends and checks, with crashes around the commit: at most one code is valid, no more
wrong codes are compared than allowed, and what counts as sent is sent."""

import random
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import Engine, text

import api.accept.accept
import api.commit.commit
import api.resources.verifications.start
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

STORED = text("SELECT id, sends, checks, max_checks, approved_at FROM verification WHERE phone = :phone ORDER BY id")
SENT = text("SELECT id AS send_id, verification_id FROM send WHERE verification_id IS NOT NULL ORDER BY id")
OPEN = text(
    "SELECT count(*) FROM verification WHERE phone = :phone AND approved_at IS NULL AND replaced_at IS NULL"
    " AND expires_at > now()"
)
END = text("UPDATE verification SET expires_at = now() WHERE phone = :phone AND approved_at IS NULL")
THREADS = 8


@pytest.fixture(name="service")
def _service(engine: Engine) -> Service:
    """Without limits of messages to a phone."""
    return Service(engine, recipient_limits=(0, 0, 0))


def test_guesses_at_once_find_nothing_beyond_five(service: Service) -> None:
    started = start(service, "254722111111").json
    code = code_in(service, started)
    with ThreadPoolExecutor(THREADS) as pool:
        results = Counter(pool.map(lambda _: check(service, started, wrong(code)), range(60)))
    assert results == Counter([*[("pending", left) for left in (4, 3, 2, 1)], *[("exhausted", 0)] * 56])
    assert check(service, started, code) == ("exhausted", 0)


def test_requests_at_once_send_one_code(service: Service) -> None:
    with ThreadPoolExecutor(THREADS) as pool:
        started = list(pool.map(lambda _: start(service, "254722222222"), range(THREADS)))
    assert Counter(each.status_code for each in started) == {200: 1, 429: THREADS - 1}
    [identifier] = {each.json["verification_id"] for each in started}
    assert service.get(f"/verifications/{identifier}").json["sends"] == 1
    pass_seconds(service, "254722222222", 30)
    with ThreadPoolExecutor(THREADS) as pool:
        again = list(pool.map(lambda _: start(service, "254722222222"), range(THREADS)))
    assert Counter(each.status_code for each in again) == {200: 1, 429: THREADS - 1}


@pytest.mark.parametrize(("right", "sent"), [(True, 200), (False, 429)])
def test_a_code_that_is_used_up_meanwhile_is_not_sent_again(
    service: Service, monkeypatch: pytest.MonkeyPatch, right: bool, sent: int
) -> None:
    phone = f"25472244444{int(right)}"
    first = start(service, phone).json
    code = code_in(service, first)
    pass_seconds(service, phone, 30)
    as_it_was_found = api.resources.verifications.start._message

    def used_up(*given: Any) -> Any:
        for _ in range(1 if right else 5):
            check(service, first, code if right else wrong(code))
        return as_it_was_found(*given)

    monkeypatch.setattr(api.resources.verifications.start, "_message", used_up)
    second = start(service, phone)
    assert second.status_code == sent
    assert (second.json["verification_id"] != first["verification_id"]) == right
    assert service.get(f"/verifications/{first['verification_id']}").json["sends"] == 1


@pytest.mark.parametrize("seed", range(3))
def test_any_history(service: Service, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    configure(service, pause_seconds=0, max_sends=10, max_checks=3)
    phone = f"25472233330{seed}"
    dice, lock, codes, compared = random.Random(seed), threading.Lock(), dict[str, str](), list[Any]()

    def roll() -> float:
        with lock:
            return dice.random()

    def crashpoint(name: str) -> None:
        if name in ("accept.before_commit", "accept.committed") and roll() < 0.15:
            raise RuntimeError(name)

    monkeypatch.setattr(api.accept.accept, "crashpoint", crashpoint)
    monkeypatch.setattr(api.commit.commit, "crashpoint", crashpoint)

    def act(_: int) -> None:
        which = roll()
        if which < 0.4:
            started = service.client.post(
                "/api/v1/verifications",
                json={"sender_id": "ACME", "phone": phone},
                headers={"Authorization": f"Bearer {service.token}"},
            )
            if started.status_code == 200:
                codes[started.json["verification_id"]] = code_in(service, started.json)
            assert started.status_code in (200, 429, 500), started.text
        elif which < 0.5:
            service.execute(END, phone=int(phone))
        else:
            with lock:
                if not codes:
                    return
                identifier, code = dice.choice(sorted(codes.items()))
            right = which > 0.92
            status, _left = check(service, {"verification_id": identifier}, code if right else wrong(code))
            compared.append((identifier, right, status))
        assert service.scalar(OPEN, phone=int(phone)) <= 1

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(act, range(150)))
    assert_consistent(service, phone, compared)
    assert audit(service.engine, full=True) == []


def assert_consistent(service: Service, phone: str, compared: list[Any]) -> None:
    stored = service.execute(STORED, phone=int(phone))
    sent = service.execute(SENT)
    assert all((status == "approved") <= right for _, right, status in compared)
    answered = Counter(identifier for identifier, _, status in compared if status == "pending")
    for each in stored:
        sends = [row for row in sent if row.verification_id == each.id]
        assert len(sends) == each.sends
        assert len({text_of(service, row._mapping) for row in sends}) == 1
        assert answered[str(each.id)] <= each.checks <= each.max_checks
        approved = (str(each.id), True, "approved") in compared
        assert approved == (each.approved_at is not None)
