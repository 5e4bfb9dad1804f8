"""What operators see of the SMPP server: metrics, log lines and findings."""

import logging
from contextlib import suppress
from typing import Any

import pytest

from api.smpp import observed
from shared.carriers.smpp.constants import Command, Status
from shared.health import smpp as health
from shared.observability.metrics import PROCESS
from tests.harness.house import wait_until
from tests.harness.smpp import SmppHouse


def counted(name: str, **labels: str) -> float:
    return PROCESS.get_sample_value(f"bulksms_smpp_server_{name}", labels) or 0.0


def test_binds_submits_and_deliveries_are_counted(smpp: SmppHouse) -> None:
    def counts() -> list[float]:
        return [
            counted("binds", kind="transceiver"),
            counted("submit_duration_seconds_count", status="ESME_ROK"),
            counted("submit_duration_seconds_count", status="ESME_RINVSRCADR"),
            counted("deliveries_total", result="taken"),
            counted("deliveries_total", result="refused"),
            counted("deliveries_unanswered"),
        ]

    def more() -> list[float]:
        return [now - then for now, then in zip(counts(), before, strict=True)]

    before = counts()
    client = smpp.bound()
    for sender in ("ACME", "ACME", "NOBODY"):
        client.submit(sender=sender)
    smpp.service.deliver_receipts()
    client.delivery(Status.ESME_RX_R_APPN)
    last = client.delivery(None)
    wait_until(lambda: more() == [1, 2, 1, 0, 1, 1], 60, "the counts")
    client.send(Command.DELIVER_SM_RESP, b"\0", 0, last.sequence)
    wait_until(lambda: more() == [1, 2, 1, 1, 1, 0], 60, "the counts")
    client.stop()
    wait_until(lambda: more()[0] == 0, 60, "the end of the bind")


def test_submits_are_logged_as_requests_are(
    smpp: SmppHouse, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def lines() -> list[dict[str, Any]]:
        return [vars(record)["fields"] for record in caplog.records if record.name == "api.requests"]

    caplog.set_level(logging.INFO, "api.requests")
    made = smpp.credential()
    client = smpp.bound(made)
    client.submit()
    client.submit(sender="NOBODY")
    monkeypatch.setattr(observed, "random", lambda: -1.0)
    message_id = client.submit().message_id
    wait_until(lambda: len(lines()) == 2, 60, "the lines")
    refused, accepted = lines()
    assert (refused["status"], refused["code"]) == ("ESME_RINVSRCADR", "sender_not_registered")
    assert accepted.pop("ms") >= 0
    assert {"key": f"smpp {made.system_id}", "route": "submit_sm", "status": "ESME_ROK"}.items() <= accepted.items()
    assert (accepted["account"], accepted["message_id"]) == (smpp.service.account_id, message_id)


def test_the_doctor_names_receipts_that_wait_and_credentials_for_anywhere(smpp: SmppHouse) -> None:
    def findings() -> str:
        with smpp.service.engine.connect() as connection:
            return " ".join(each.detail for each in health.check_smpp(connection))

    def oldest() -> float:
        return float(smpp.service.scalar(health.OLDEST_DELIVERY))

    made = smpp.credential(system_id="waiting", networks=None)
    assert "may bind from anywhere: waiting" in findings()
    client = smpp.bound(made, Command.BIND_TRANSMITTER)
    client.submit()
    smpp.service.deliver_receipts()
    assert "none waits" in findings()
    smpp.service.execute(
        "UPDATE event SET at = at - interval '5 hours' WHERE account_id = :id", id=smpp.service.account_id
    )
    assert "for 4 hours nobody has bound to receive those of 1 credential: waiting" in findings()
    assert oldest() < 3600, "nobody is bound to receive"
    receiver = smpp.bound(made, Command.BIND_RECEIVER)
    receiver.delivery(None)
    assert "none waits" in findings()
    assert oldest() > 4 * 3600
    with suppress(OSError):
        receiver.stop()
