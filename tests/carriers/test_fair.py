"""A carrier that everybody waits for: what is urgent goes first, equal accounts have equal shares, and authentication
has the share that it is guaranteed."""

import time
from pathlib import Path

import pytest
from sqlalchemy import text

from shared.contacts.groups import create_group
from tests.carriers.ground import phones, service
from tests.harness.house import House, wait_until
from tests.harness.smsc import SmscPeer, smpp_carrier, smsc_peer

RATE = 200
SHARE = 0.2
"""Of authentication: what it is guaranteed where CARRIERS_FILE says nothing."""
SALE = 500_000
GROUP, LIST, PASSWORDS, CODES, NOTICES = "254", "255", "256", "257", "258"
"""The first digits of the phones of each kind of message."""
PASSWORDS_SENT, ACCOUNTS, NOTICES_OF_EACH = 100, 80, 200

CONTACTS = text(
    "INSERT INTO contact (group_id, position, phone)"
    " SELECT :group, n, CAST(:first AS bigint) + n FROM generate_series(1, :count) AS n"
)
COUNT = text("UPDATE contact_group SET contact_count = :count, last_position = :count WHERE id = :group")


def first(prefix: str) -> int:
    return int(f"{prefix}700000000")


def bulk(house: House, numbers: list[str], category: str) -> None:
    house.post("/sms/send-bulk", sender_id="ACME", phones=numbers, message="Hi", category=category)


def large_group(house: House, account: int) -> str:
    """A group of as many contacts as the sale has recipients."""
    with house.engine.begin() as connection:
        group = create_group(connection, account, "Sale")
        for statement in (CONTACTS, COUNT):
            connection.execute(statement, {"group": group, "first": first(GROUP), "count": SALE})
    return str(group)


def among(smsc: SmscPeer, begun: int, prefix: str) -> int:
    """Of what came after the first `begun`, how many of that kind."""
    return sum(each.phone.startswith(prefix) for each in smsc.submits[begun:])


def watch(smsc: SmscPeer, seconds: int) -> int:
    """Wait for as many messages as the rate lets through in that time. Returns how many there had been before."""
    begun = len(smsc.submits)
    wait_until(lambda: len(smsc.submits) >= begun + seconds * RATE, 10 * seconds, "messages")
    return begun


def delay_of_a_password(house: House, smsc: SmscPeer, phone: str) -> float:
    """Seconds from the request until the carrier has the message."""
    begun, before = time.monotonic(), len(smsc.submits)
    house.post("/sms/send", sender_id="ACME", phone=phone, message="Code 1234", category="authentication")

    def times() -> list[float]:
        return [each.at for each in smsc.submits[before:] if each.phone == phone]

    wait_until(times, 30, "a password")
    return times()[0] - begun


@pytest.mark.carriers
def test_a_long_queue_delays_no_password_and_every_account_gets_its_share(tmp_path: Path) -> None:
    with (
        smsc_peer() as smsc,
        service(tmp_path, smpp_carrier("main", smsc.port, rate=RATE), 4) as house,
    ):
        account = house.new_account("group")
        house.post(
            "/sms/send-group",
            sender_id="ACME",
            group_id=large_group(house, account),
            message="Sale",
            category="marketing",
        )
        house.new_account("list")
        for start in range(0, SALE, 100_000):
            bulk(house, phones(100_000, first(LIST) + start), "marketing")

        wait_until(lambda: {each.phone[:3] for each in smsc.submits[-50:]} == {GROUP, LIST}, 60, "both accounts")
        begun = watch(smsc, 20)
        shares = [among(smsc, begun, GROUP), among(smsc, begun, LIST)]
        delays = sorted(delay_of_a_password(house, smsc, phone) for phone in phones(PASSWORDS_SENT, first(PASSWORDS)))
        nearly_all = delays[round(0.99 * PASSWORDS_SENT) - 1]
        for number in range(ACCOUNTS):
            house.new_account(f"notices-{number}")
            bulk(house, phones(NOTICES_OF_EACH, first(NOTICES) + NOTICES_OF_EACH * number), "transactional")
        house.new_account("codes")
        bulk(house, phones(20_000, first(CODES)), "authentication")
        wait_until(lambda: among(smsc, 0, CODES) > 1_000, 60, "the codes that fair order lets through")
        begun = watch(smsc, 20)
        came = len(smsc.submits) - begun
        codes = among(smsc, begun, CODES)
        speed = came / (smsc.submits[begun + came - 1].at - smsc.submits[begun].at)
        waiting = ACCOUNTS * NOTICES_OF_EACH - among(smsc, 0, NOTICES)
    assert min(shares) >= 0.9 * sum(shares) / 2
    assert nearly_all <= 1.0
    assert waiting > 0, "by their weights alone, codes have 64 of 704 as long as notices wait"
    assert codes >= 0.95 * SHARE * came
    assert speed > 0.975 * RATE, "no share idles"
