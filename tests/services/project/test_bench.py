"""The SMSC that figures are measured at must notice what would make them void, and the clients must count right."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.bind import Bind
from bench.carrier import Carrier
from bulksms.local import services
from tests.harness.house import wait_until

pytestmark = pytest.mark.slow
PHONES = range(254_700_000_000, 254_700_000_250)


@pytest.fixture(name="carrier", params=["compiled", "python"])
def _carrier(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Carrier]:
    if request.param == "python":
        monkeypatch.setattr("bench.carrier._compiled", lambda folder: None)
    made = Carrier(tmp_path, services.environment({"PYTHONPATH": str(Path.cwd())}), receipts=True)
    if request.param == "compiled" and made.kind != "bench/smsc.c":
        pytest.skip("no C compiler")
    made.start()
    yield made
    made.process.stop()


def test_it_works(carrier: Carrier) -> None:
    bind = Bind(carrier.port, receipts=False)
    references = bind.submit(PHONES)
    counts = carrier.counts()
    bind.close()
    assert len(set(references)) == len(PHONES)
    assert (counts["submits"], counts["duplicates"], counts["receipts_sent"]) == (250, 0, 0)


def test_each_message_has_a_receipt_with_its_reference(carrier: Carrier) -> None:
    bind = Bind(carrier.port, receipts=True)
    references = bind.submit(PHONES)
    while len(bind.receipts) < len(PHONES):
        bind.read()
    assert sorted(reference for _, reference in bind.receipts) == sorted(references)
    bind.answer_receipts()
    wait_until(lambda: carrier.counts()["receipts_answered"] == len(PHONES), 30, "the answers to the receipts")
    assert carrier.counts()["receipts_waiting"] == 0
    bind.close()
