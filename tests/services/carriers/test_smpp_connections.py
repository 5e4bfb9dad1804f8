"""The SMPP driver when there is no connection, when one breaks, and when another follows."""

import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

from bulksms.local.ports import free_port
from bulksms.smsc.server import running
from bulksms.smsc.settings import SmscSettings
from shared.carriers.smpp.constants import Command
from shared.carriers.smpp.pdu import read_message
from tests.harness.house import wait_until
from tests.services.carriers.driven import (
    ACCEPTED,
    ENDLESS,
    IN_DOUBT,
    PATIENCE,
    THROTTLED,
    Driven,
    driven,
    phones,
    response_counts,
)
from tests.unit.carriers.smpp.making import KeptInbox, config, message_group
from worker.carriers.base import ResponseKind
from worker.carriers.smpp import SmppCarrier


def test_a_phone_breaks_the_connection_and_another_brings_garbage() -> None:
    with driven() as all_:
        before, broken = all_.submit(message_group("x", ["254711000000", "99911000000"]))
        assert (before.response, broken.response) == (IN_DOUBT, IN_DOUBT), "what came with it has no answer either"
        all_.bound()
        assert response_counts(all_.submit(message_group("x", ["99912000000", "254711000001"]))) == {ACCEPTED: 2}
        counts = all_.smsc.records.counts
        assert (counts.drops, counts.garbage, counts.duplicates) == (1, 1, 0)


def test_without_a_carrier_everything_is_throttled_soon() -> None:
    carrier = SmppCarrier(config(port=free_port(), response_timeout=ENDLESS))
    carrier.open(KeptInbox())
    try:
        with ThreadPoolExecutor(1) as pool:
            done = pool.submit(carrier.submit, [message_group("x", phones(3)), message_group("y" * 200, phones(2))])
            outcomes = done.result(PATIENCE)
        assert [(outcome.response, outcome.error) for outcome in outcomes] == [(THROTTLED, "not_connected")] * 5
        assert (carrier.trouble or "").startswith("connecting: ")
    finally:
        carrier.close()
    assert (carrier.trouble or "").startswith("closed: ")


def test_refused_credentials_suspend_the_carrier() -> None:
    with running(SmscSettings(port=0, password="other")) as smsc:
        all_ = Driven(smsc)
        all_.carrier.open(all_.inbox)
        try:
            suspended = "suspended: ESME_RINVPASWD"
            wait_until(lambda: all_.carrier.trouble == suspended, PATIENCE, "the suspension")
            assert response_counts(all_.submit(message_group("x", phones(2)))) == {THROTTLED: 2}
            assert smsc.records.counts.refused_binds == 1
        finally:
            all_.carrier.close()


def test_receipts_that_were_not_answered_come_again_after_a_break() -> None:
    with driven(smsc={"receipt_delay": 0.5, "receipt_window": 10}) as all_:
        outcomes = all_.submit(message_group("x", phones(50)))
        all_.drop_all()
        wait_until(lambda: len({receipt.reference for receipt in all_.inbox.receipts}) == 50, PATIENCE, "the receipts")
        assert {receipt.reference for receipt in all_.inbox.receipts} == {outcome.reference for outcome in outcomes}


def test_nothing_is_submitted_after_closing() -> None:
    with driven() as all_:
        all_.submit(message_group("x", phones(5)))
        all_.carrier.close()
        assert response_counts(all_.submit(message_group("y", phones(5)))) == {THROTTLED: 5}
        assert all_.smsc.records.counts.submits == 5


def test_when_the_connection_breaks_no_message_leaves_twice() -> None:
    """What was throttled goes again, as the service does it; what is in doubt does not."""
    taken: Counter[str] = Counter()

    def watch(body: bytes, identity: str, verdict: str) -> None:
        taken[read_message(Command.SUBMIT_SM, body).destination] += bool(identity)

    with driven(watch, smsc={"drop_after": 130}, window=50) as all_:
        results: dict[str, ResponseKind] = {}
        left = phones(600)
        deadline = time.monotonic() + 3 * PATIENCE
        while left:
            assert time.monotonic() < deadline
            window, left = left[:50], left[50:]
            for phone, outcome in zip(window, all_.submit(message_group("x", window)), strict=True):
                if outcome.response == THROTTLED:
                    assert outcome.error == "not_connected"
                    left.append(phone)
                else:
                    results[phone] = outcome.response
    assert all_.smsc.records.counts.drops >= 3
    assert len(results) == 600
    assert max(taken.values()) == 1
    assert {phone for phone, response in results.items() if response == ACCEPTED} <= set(taken)
    assert set(taken) <= set(results)
    assert 0 < Counter(results.values())[IN_DOUBT] <= all_.smsc.records.counts.drops * 50
