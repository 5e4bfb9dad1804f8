"""Equal accounts have equal shares of a carrier that everybody waits for, however their messages are divided."""

from collections.abc import Callable, Iterator

import pytest

from tests.harness.service import Service
from tests.integration.sending.test_authentication_share import EMPTY, QUEUE, RELEASE
from tests.integration.sending.test_late_opt_out import phones
from worker.sending.claim import claim
from worker.sending.next_batches import ClaimRequest

Waits = Callable[..., None]
BUDGET = 4


@pytest.fixture(autouse=True)
def empty(service: Service) -> Iterator[None]:
    yield
    service.execute(EMPTY)


@pytest.fixture
def waits(service: Service) -> Waits:
    """Lets a batch of ten messages of an account wait at that place in fair order."""
    tokens: dict[int, str] = {}

    def made(account: int, turn: int, category: str = "marketing") -> None:
        token = tokens.setdefault(account, service.new_token(account))
        service.worker.dispatcher.stop.set()
        send = service.post(
            "/sms/send-bulk",
            token=token,
            sender_id="ACME",
            phones=phones(service)[:10],
            message="Hi",
            category=category,
            allow_duplicates=True,
        ).json["send_id"]
        service.execute(RELEASE, id=send)
        service.execute(QUEUE, id=send, turn=turn, carrier=None)

    return made


def take(service: Service, contended: bool = True) -> list[int]:
    """The accounts whose messages the next cycle has."""
    return [batch.account_id for batch in _claim(service, contended)]


def _claim(service: Service, contended: bool = True) -> list:
    return claim(service.engine, ClaimRequest(budget=BUDGET, window_size=10, lease=15.0, contended=contended))


@pytest.fixture
def two(service: Service, waits: Waits) -> tuple[int, int]:
    """One account with many batches, and one with a single one."""
    many, single = service.account_id, service.new_account("single")
    for number in range(4):
        waits(many, 1 + 1000 * number)
    waits(single, 2)
    return many, single


def test_an_account_with_one_batch_has_as_much_under_way_as_one_with_many(
    service: Service, two: tuple[int, int]
) -> None:
    many, single = two
    assert take(service) == [many]
    assert take(service) == [single]
    assert take(service) == [], "another cycle would be the other's share"


def test_accounts_have_shares_by_their_weights(service: Service, two: tuple[int, int]) -> None:
    many, single = two
    service.execute("UPDATE account SET weight = 2 WHERE id = :id", id=many)
    assert [take(service) for _ in range(4)] == [[many], [single], [many], []]


def test_a_worker_that_died_holds_nobody_back(service: Service, two: tuple[int, int]) -> None:
    many, single = two
    assert [take(service) for _ in range(3)] == [[many], [single], []]
    service.execute("UPDATE batch SET lease_until = now() WHERE account_id = :id AND state = 'sending'", id=single)
    assert take(service) == [many]
