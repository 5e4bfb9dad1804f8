"""Verifications when sends and checks come at once: one code is sent, no more wrong codes are compared than allowed,
and none is sent again that is used up."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import Engine

import api.resources.verifications.start
from tests.harness.service import Service
from tests.integration.verifications.test_verifications import (
    check,
    code_in,
    pass_seconds,
    start,
    wrong,
)

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
