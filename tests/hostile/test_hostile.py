"""Attacks for a moment and with a small part of their strength. Nothing here is about how long anything takes.

All of them are run by `make hostile`.
"""

from collections.abc import Iterator

import pytest

from shared.audit.check import audit
from tests.harness.house import wait_until
from tests.hostile.achieved import achieved
from tests.hostile.felt import not_handed_over
from tests.hostile.ground import Ground, ground
from tests.hostile.scenarios import SCENARIOS

pytestmark = pytest.mark.slow
STRENGTH = 0.05
SECONDS = 0.5
AROUND = 0.1
SHORT = ("never", "keys", "guess", "late-opt-outs", "lists", "bulk", "erasures", "redis", "webhooks", "pages")
"""One attack of each kind: by strangers and by customers, with requests, bodies, connections, jobs and receivers."""
RECEIPTS_DUE = "SELECT count(*) FROM simulated_receipt"


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    """The service, with an attacker and a victim."""
    with ground(tmp_path_factory.mktemp("ground"), STRENGTH, durable=False) as made:
        yield made


@pytest.mark.parametrize("name", SHORT)
def test_no_request_of_another_account_is_refused_or_lost(there: Ground, name: str) -> None:
    [scenario] = [each for each in SCENARIOS if each.name == name]
    if scenario.through_nginx and there.front is None:
        pytest.skip("nginx is not installed")
    felt = there.attacked(scenario, SECONDS, AROUND)
    assert list(scenario.no_attack(felt.did)) == []
    assert felt.during and felt.refused == []
    assert [*not_handed_over(felt), *achieved(there.house.engine, late=None)] == []


def test_the_books_are_clean(there: Ground) -> None:
    assert [breach for breach in audit(there.house.engine, full=True) if breach.rule != "queue_moves"] == []
    assert there.house.most_submits() == 1


def test_no_attack_keeps_a_receipt_from_being_stored(there: Ground) -> None:
    """Receipts are stored for an account that has a webhook, and one that has none."""
    there.cancel_sends()
    wait_until(lambda: not there.house.scalar(RECEIPTS_DUE), 180, "the receipts")
    logs = "".join(worker.log_file.read_text() for worker in there.house.workers)
    assert "receipts could not be stored" not in logs
