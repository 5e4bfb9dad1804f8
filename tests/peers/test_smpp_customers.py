"""Our SMPP server before customers that are not ours: npm's `smpp`, smpplib, Kannel and one in C: `make peers`.

Each submits texts of all kinds and gets each receipt once, and pays what the HTTP API asks for the same texts. For
longer runs, `COUNT=100000`.
"""

import json
import os
import shutil
import subprocess
import urllib.parse
import urllib.request
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import smpplib.client
import smpplib.consts
import smpplib.pdu

from bulksms.local import services
from bulksms.local.command import Command as Process
from bulksms.local.ports import free_port
from shared.accounts.smpp_credentials import NewCredential
from shared.sms import gsm7
from tests.harness.house import House, wait_until
from tests.harness.receiver import receiver
from tests.peers.kannel_boxes import boxes
from tests.peers.test_peers import NODE

pytestmark = pytest.mark.peers
COUNT = int(os.environ.get("COUNT", "500"))
WINDOW = 100
PATIENCE = max(120.0, COUNT / 20)
LONG, WIDE = "Grüße {x} €uro " * 30, "яжф Ж😀 " * 25
TEXTS = {"short": "Hi", "latin1": "çà et là", "long": LONG, "wide": WIDE}
"""By the start of the reference; the others are parts as they come."""


def octets_of(message: str) -> bytes:
    """GSM-7 with a septet in each octet."""
    return bytes(gsm7.encode(message))


KINDS: Sequence[dict[str, Any]] = (
    {"text": "short", "coding": 0, "octets": b"Hi".hex()},
    {"text": "short", "coding": 1, "octets": b"Hi".hex()},
    {"text": "latin1", "coding": 3, "octets": TEXTS["latin1"].encode("latin-1").hex()},
    {"text": "long", "coding": 0, "octets": octets_of(LONG).hex(), "payload": True},
    {"text": "wide", "coding": 8, "octets": WIDE.encode("utf-16-be").hex(), "payload": True},
    {"coding": 0, "octets": b"a part".hex(), "udh": "050003070201"},
    {"coding": 8, "octets": "я".encode("utf-16-be").hex(), "udh": "050003070202"},
    {
        "coding": 0,
        "octets": b"another".hex(),
        "sar_msg_ref_num": 9,
        "sar_total_segments": 2,
        "sar_segment_seqnum": 1,
    },
    {"coding": 4, "octets": "00ff10"},
)


@pytest.fixture(scope="module")
def port(house: House) -> Iterator[int]:
    """Of the SMPP server."""
    port = free_port()
    process: Process = services.smpp(port, house.env, house.folder, Path.cwd())
    process.launch()
    process.wait_ready(60)
    try:
        yield port
    finally:
        process.stop()


def messages(first: int) -> list[dict[str, Any]]:
    """COUNT messages of all kinds in turn, each to a phone of its own."""
    return [{**KINDS[number % len(KINDS)], "to": str(first + number)} for number in range(COUNT)]


def check(house: House, sent: Sequence[dict[str, Any]], ids: dict[str, str], receipts: Counter[str]) -> None:
    """Each was accepted and has one receipt, and has cost what HTTP asks for its text."""
    assert len(ids) == len(set(ids.values())) == len(sent)
    assert receipts == Counter(ids.values())
    for each in sent[: len(KINDS)]:
        shown = house.get(f"/messages/{ids[each['to']]}")
        assert shown["status"] == "delivered"
        if "text" not in each:
            assert shown["segments"] == shown["cost"] == 1
            continue
        quote = house.post("/sms/quote", phone=each["to"], sender_id="ACME", message=TEXTS[each["text"]])
        assert (shown["text"], shown["cost"]) == (TEXTS[each["text"]], quote["cost"])
        assert shown["segments"] == quote["segments"]["total"]


def test_npm_smpp(house: House, port: int, login: NewCredential) -> None:
    sent = messages(254_711_000_000)
    command = ["node", str(NODE / "esme.js"), str(port), login.system_id, login.password, str(WINDOW)]
    lines = "".join(json.dumps(each) + "\n" for each in sent)
    done = subprocess.run(command, input=lines, capture_output=True, text=True, check=True, cwd=NODE, timeout=PATIENCE)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert {each["status"] for each in found if "to" in each} == {0}
    ids = {each["to"]: each["id"] for each in found if "to" in each}
    check(house, sent, ids, Counter(each["receipt"] for each in found if "receipt" in each))


def test_smpplib(house: House, port: int, login: NewCredential) -> None:
    sent = messages(254_712_000_000)
    ids: dict[str, str] = {}
    receipts: Counter[str] = Counter()
    open_phones: dict[int, str] = {}
    client = smpplib.client.Client("127.0.0.1", port, allow_unknown_opt_params=True)
    client.set_message_sent_handler(lambda pdu: ids.update({open_phones.pop(pdu.sequence): pdu.message_id.decode()}))
    client.set_message_received_handler(lambda pdu: receipts.update([pdu.receipted_message_id.decode()]))
    client.connect()
    client.bind_transceiver(system_id=login.system_id, password=login.password)
    for each in sent:
        octets = bytes.fromhex(each["octets"])
        udh = bytes.fromhex(each.get("udh", ""))
        content = {"message_payload": octets} if "payload" in each else {"short_message": udh + octets}
        sar = {name: value for name, value in each.items() if name.startswith("sar_")}
        pdu = client.send_message(
            source_addr_ton=smpplib.consts.SMPP_TON_ALNUM,
            source_addr="ACME",
            dest_addr_ton=smpplib.consts.SMPP_TON_INTL,
            dest_addr_npi=smpplib.consts.SMPP_NPI_ISDN,
            destination_addr=each["to"],
            data_coding=each["coding"],
            esm_class=smpplib.consts.SMPP_GSMFEAT_UDHI if udh else 0,
            registered_delivery=True,
            **content,
            **sar,
        )
        open_phones[pdu.sequence] = each["to"]
        while len(open_phones) >= WINDOW:
            client.read_once()
    while len(ids) < len(sent) or receipts.total() < len(sent):
        client.read_once()
    client.unbind()
    client.disconnect()
    check(house, sent, ids, receipts)


def test_a_client_in_c(house: House, port: int, login: NewCredential, tmp_path: Path) -> None:
    program = tmp_path / "esme"
    subprocess.run(["cc", "-O2", "-o", program, Path(__file__).with_name("esme.c")], check=True)
    command = [program, str(port), login.system_id, login.password, str(COUNT), str(WINDOW), "254713000000"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=PATIENCE)
    print(done.stdout)
    counted = json.loads(done.stdout)
    expected = {"answers": COUNT, "errors": 0, "receipts": COUNT, "twice": 0, "unmatched": 0}
    assert {name: counted[name] for name in expected} == expected


KANNEL = """
group = smsc
smsc = smpp
smsc-id = ours
host = 127.0.0.1
{bind}
smsc-username = {name}
smsc-password = {password}
system-type = ""
source-addr-ton = 5
source-addr-npi = 0
dest-addr-ton = 1
dest-addr-npi = 1
alt-charset = "GSM"
max-pending-submits = 10
"""
"""docs/guides/smpp.md shows it."""
BINDS = {"transceiver": ["port = {port}\ntransceiver-mode = true"], "two": ["port = {port}", "receive-port = {port}"]}
"""Kannel has a group for each bind."""


@pytest.mark.parametrize("binds", BINDS)
def test_kannel(house: House, port: int, login: NewCredential, tmp_path: Path, binds: str) -> None:
    assert shutil.which("bearerbox") and shutil.which("smsbox"), "Kannel is not installed (apt-get install kannel)"
    first = 254_714_000_000 if binds == "two" else 254_715_000_000
    names = {"name": login.system_id, "password": login.password}
    carrier = "".join(KANNEL.format(bind=bind.format(port=port), **names) for bind in BINDS[binds])
    count = min(COUNT, 10_000)
    with receiver() as there, boxes(tmp_path, carrier) as box:
        for number in range(count):
            message = list(TEXTS.values())[number % len(TEXTS)]
            query = {"username": "foo", "password": "bar", "from": "ACME", "to": str(first + number), "text": message}
            query |= {"charset": "UTF-8", "coding": "2"} if message == WIDE else {"charset": "UTF-8"}
            query |= {"dlr-mask": "3", "dlr-url": f"{there.url}?to=%p"}
            url = f"{box}?{urllib.parse.urlencode(query)}"
            with urllib.request.urlopen(url, timeout=PATIENCE) as answer:
                assert answer.status == 202
        expected = Counter(str(first + number) for number in range(count))
        wait_until(lambda: len(there.posts) >= count, PATIENCE, "the reports")
        assert Counter(post.path.rpartition("=")[2] for post in there.posts) == expected
