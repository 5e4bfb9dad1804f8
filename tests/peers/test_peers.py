"""The driver before an SMSC that is not ours, and our simulated SMSC before a client that is not ours: `make peers`.

The SMSC is the npm package `smpp`, which `make peers` installs from its lock; the client is Kannel. Where one of them
is not to be had, its tests fail: they are run only when they are asked for.
"""

import json
import os
import random
import shutil
import subprocess
import threading
import urllib.parse
import urllib.request
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from bulksms.smsc.server import running
from bulksms.smsc.settings import SmscSettings
from shared.carriers.smpp.alphabets import decode
from shared.carriers.smpp.constants import Command
from shared.carriers.smpp.pdu import read_message, split_udh
from shared.lifecycle import MessageStatus
from tests.harness.house import wait_until
from tests.peers.kannel_boxes import boxes
from tests.unit.carriers.smpp.making import KeptInbox, config, message_group
from worker.carriers.base import ResponseKind
from worker.carriers.smpp import SmppCarrier

pytestmark = pytest.mark.peers
NODE = Path(os.environ.get("PEERS_NODE", Path(__file__).parent / "node"))
MESSAGES = 10_000
PATIENCE = 120.0


class NodeSmsc:
    """The SMSC's process, and what it says that it was given."""

    def __init__(self) -> None:
        script = NODE / "smsc.js"
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self.process = subprocess.Popen(["node", str(script)], cwd=NODE, text=True, **pipes)
        assert self.process.stdout is not None
        first = self.process.stdout.readline()
        assert first, "it did not start: was `npm ci` run in its folder?"
        self.port = int(json.loads(first)["port"])
        self.given: list[dict[str, Any]] = []
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.given.append(json.loads(line))

    def close(self) -> None:
        """End it."""
        self.process.kill()
        self.process.wait(PATIENCE)
        self._thread.join(PATIENCE)
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()

    def speak(self) -> None:
        """Let a phone write."""
        assert self.process.stdin is not None
        self.process.stdin.write("speak\n")
        self.process.stdin.flush()

    def shown(self) -> dict[str, str]:
        """What each phone shows, its parts put together by nothing but what the SMSC read."""
        parts: dict[str, dict[int, str]] = defaultdict(dict)
        totals: dict[str, set[int]] = defaultdict(set)
        for each in self.given:
            total, number = 1, 1
            if each["headers"]:
                (header,) = each["headers"]
                octets = bytes.fromhex(header)
                total, number = octets[-2], octets[-1]
            elif each["sar"]:
                _, total, number = each["sar"]
            assert number not in parts[each["to"]], "a part twice"
            parts[each["to"]][number] = each["text"]
            totals[each["to"]].add(total)
        assert all(totals[phone] == {len(numbers)} for phone, numbers in parts.items())
        return {phone: "".join(numbers[number] for number in sorted(numbers)) for phone, numbers in parts.items()}


@contextmanager
def node_smsc() -> Iterator[NodeSmsc]:
    made = NodeSmsc()
    try:
        yield made
    finally:
        made.close()


def texts() -> list[str]:
    """Of every length and alphabet, at every border: 500 texts."""
    rng = random.Random(7)
    gsm7 = "abc XYZ 0123 @£$¥èéùìòÇØøÅåΔΦΓΛΩΠΨΣΘΞÆæßÉ!\"#¤%&'()*+,-./:;<=>?¡ÄÖÑÜ§¿äöñüà^{}\\[~]|€\n"
    wide = "яжфЩ 世界 नमस्ते ß😀👍🏽é"
    sizes = [1, 69, 70, 71, 134, 152, 153, 154, 159, 160, 161, 305, 306, 307, 459, 460, 1_000, 1_600]
    made = ["a" * 152 + "€" * 100, "я" * 66 + "😀" * 50, "^" * 80, "^" * 81, "😀" * 35, "😀" * 36, "x" * 1_600]
    while len(made) < 500:
        letters = gsm7 if rng.random() < 0.6 else wide
        made.append("".join(rng.choice(letters) for _ in range(rng.choice([*sizes, rng.randrange(1, 500)]))))
    return made


@pytest.mark.parametrize(
    ("long_messages", "bind"),
    [("udh", "transceiver"), ("sar", "transceiver"), ("payload", "transceiver"), ("udh", "transmitter+receiver")],
)
def test_ten_thousand_messages_arrive_as_they_were_with_their_receipts(long_messages: str, bind: str) -> None:
    inbox = KeptInbox()
    each = MESSAGES // 500
    groups = [message_group(text, [f"25471{n:03d}{k:04d}" for k in range(each)]) for n, text in enumerate(texts())]
    with node_smsc() as smsc:
        settings = {"system_id": "us", "password": "right", "window": 100, "response_timeout": PATIENCE}
        carrier = SmppCarrier(config(port=smsc.port, long_messages=long_messages, bind=bind, **settings))
        carrier.open(inbox)
        try:
            wait_until(lambda: all(link.trouble is None for link in carrier._links), PATIENCE, "the bind")
            outcomes = [
                outcome for start in range(0, 500, 20) for outcome in carrier.submit(groups[start : start + 20])
            ]
            assert {outcome.response for outcome in outcomes} == {ResponseKind.ACCEPTED}
            wait_until(lambda: len(inbox.receipts) >= MESSAGES, PATIENCE, "the receipts")
        finally:
            carrier.close()
        assert smsc.shown() == {phone: text.text for text in groups for phone in text.phones}
    assert len(inbox.receipts) == MESSAGES
    assert {receipt.reference for receipt in inbox.receipts} == {outcome.reference for outcome in outcomes}
    assert {receipt.status for receipt in inbox.receipts} == {MessageStatus.DELIVERED}
    senders = {(receipt.reference, receipt.phone) for receipt in inbox.receipts}
    phones = [phone for text in groups for phone in text.phones]
    assert senders == {(outcome.reference, phone) for outcome, phone in zip(outcomes, phones, strict=True)}


def test_a_message_from_a_phone_in_parts() -> None:
    inbox = KeptInbox()
    with node_smsc() as smsc:
        carrier = SmppCarrier(config(port=smsc.port, system_id="us", password="right"))
        carrier.open(inbox)
        try:
            wait_until(lambda: carrier.trouble is None, PATIENCE, "the bind")
            smsc.speak()
            wait_until(lambda: len(inbox.inbound) == 2, PATIENCE, "the message")
        finally:
            carrier.close()
    assert [(each.phone, each.sent_to, each.total, each.number) for each in inbox.inbound] == [
        ("254711000000", "ACME", 2, 1),
        ("254711000000", "ACME", 2, 2),
    ]
    assert "".join(each.text for each in inbox.inbound) == "x" * 153 + "ёж 😀"


def test_a_wrong_password_suspends() -> None:
    with node_smsc() as smsc:
        carrier = SmppCarrier(config(port=smsc.port, system_id="us", password="wrong"))
        carrier.open(KeptInbox())
        try:
            wait_until(lambda: (carrier.trouble or "").startswith("suspended: "), PATIENCE, "the refusal")
        finally:
            carrier.close()


KANNEL = """
group = smsc
smsc = smpp
smsc-id = peer
host = 127.0.0.1
port = {port}
smsc-username = us
smsc-password = right
system-type = ""
transceiver-mode = true
alt-charset = "GSM"
"""


def test_kannel_is_a_customer_of_our_smsc(tmp_path: Path) -> None:
    assert shutil.which("bearerbox") and shutil.which("smsbox"), "Kannel is not installed (apt-get install kannel)"
    given: list[bytes] = []
    expected = {f"25471100{n:04d}": ("Hi" if n % 2 else "я" * 100) for n in range(50)}
    settings = SmscSettings(port=0, system_id="us", password="right", receipt_delay=0.1)
    with (
        running(settings, lambda body, *_: given.append(body)) as smsc,
        boxes(tmp_path, KANNEL.format(port=smsc.port)) as box,
    ):
        counts = smsc.records.counts
        wait_until(lambda: counts.binds, PATIENCE, "Kannel's bind")
        for phone, text in expected.items():
            query = {"username": "foo", "password": "bar", "from": "ACME", "to": phone, "dlr-mask": "3"}
            query |= {"text": text, "charset": "UTF-8", "coding": "2" if len(text) > 2 else "0"}
            query |= {"dlr-url": "http://127.0.0.1:1/"}
            with urllib.request.urlopen(f"{box}?{urllib.parse.urlencode(query)}") as it:
                assert it.status == 202
        wait_until(lambda: counts.accepted == 25 + 25 * 2, PATIENCE, "the submits")
        wait_until(lambda: counts.receipts_answered == counts.receipts_sent > 0, PATIENCE, "the answers")
    shown: dict[str, str] = defaultdict(str)
    for body in given:
        message = read_message(Command.SUBMIT_SM, body)
        shown[message.destination] += decode(split_udh(message)[1], message.data_coding)
    assert shown == expected
