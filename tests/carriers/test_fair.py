"""A carrier that everybody waits for: what is urgent goes first, and equal accounts have equal shares."""

import time
from pathlib import Path

import pytest

from tests.carriers.ground import CARRIER, carrier, phones, service
from tests.services.house import House, wait_until

RATE = 200
FIRST = {"acme": 254700000000, "other": 255700000000}


def queue_up(house: House, first: int, recipients: int) -> None:
    """Marketing to so many, 100,000 in a request."""
    for start in range(0, recipients, 100_000):
        house.post(
            "/sms/send-bulk",
            sender_id="ACME",
            phones=phones(min(100_000, recipients), first + start),
            message="Sale",
            category="marketing",
        )


@pytest.mark.carriers
@pytest.mark.parametrize(("recipients", "seconds", "passwords"), [(20_000, 10, 30), (300_000, 20, 100)])
def test_what_waits_delays_no_password_and_accounts_share_evenly(
    tmp_path: Path, recipients: int, seconds: int, passwords: int
) -> None:
    with (
        carrier() as smsc,
        service(tmp_path, CARRIER.format(name="main", port=smsc.port, rate=RATE), 4) as house,
    ):
        for name, first in FIRST.items():
            house.new_account(name)
            queue_up(house, first, recipients)
        wait_until(lambda: {phone[:3] for phone in smsc.seen.phones[-50:]} == {"254", "255"}, 60, "both accounts")
        begun = len(smsc.seen.phones)
        wait_until(lambda: len(smsc.seen.phones) >= begun + seconds * RATE, 10 * seconds, "messages")
        shares = [sum(phone.startswith(prefix) for phone in smsc.seen.phones[begun:]) for prefix in ("254", "255")]

        delays = []
        for phone in phones(passwords, 256700000000):
            house.post("/sms/send", sender_id="ACME", phone=phone, message="Code 1234", category="authentication")
            accepted = time.monotonic()
            wait_until(lambda phone=phone: phone in smsc.seen.phones[-4 * RATE :], 30, "a password")
            place = len(smsc.seen.phones) - 1 - smsc.seen.phones[::-1].index(phone)
            delays.append(max(0.0, smsc.seen.times[place] - accepted))
        delays.sort()
    nearly_all = delays[round(0.99 * passwords) - 1]
    print(f"shares {shares}; passwords after {delays[passwords // 2]:.3f} s (median), {nearly_all:.3f} s (p99)")
    assert max(shares) <= 1.1 * min(shares)
    assert nearly_all <= 1.0
