"""The simulated SMSC and the driver's PDUs, before an implementation of SMPP that is not ours."""

from collections.abc import Iterator
from typing import Any

import pytest
import smpplib
import smpplib.client
import smpplib.smpp

from bulksms.smsc.server import Smsc, running
from bulksms.smsc.settings import SmscSettings
from tests.unit.carriers.smpp.making import config, message_group
from worker.carriers.smpp.parts import References
from worker.carriers.smpp.submission import Submission

PATIENCE = 60.0


@pytest.fixture
def smsc() -> Iterator[Smsc]:
    with running(SmscSettings(port=0, receipt_delay=0.05, system_id="me", password="secret")) as server:
        yield server


def client_of(smsc: Smsc) -> Any:
    client = smpplib.client.Client("127.0.0.1", smsc.port, timeout=PATIENCE, allow_unknown_opt_params=True)
    client.connect()
    return client


def test_it_works_with_a_third_party_client(smsc: Smsc) -> None:
    client = client_of(smsc)
    sent: list[tuple[int, bytes]] = []
    received: list[Any] = []

    def receive(pdu: Any) -> int:
        received.append(pdu)
        return 0

    client.set_message_sent_handler(lambda pdu: sent.append((pdu.status, pdu.message_id)))
    client.set_message_received_handler(receive)
    client.bind_transceiver(system_id="me", password="secret")
    for _ in range(3):
        client.send_message(
            source_addr="ACME", destination_addr="254711000000", short_message=b"Hi", registered_delivery=1
        )
    while len(sent) < 3 or len(received) < 3:
        client.read_once()
    assert {status for status, _ in sent} == {0}
    assert {pdu.receipted_message_id.rstrip(b"\0") for pdu in received} == {identity for _, identity in sent}
    assert {pdu.short_message.split(b" ")[0] for pdu in received} == {b"id:" + identity for _, identity in sent}
    assert {pdu.message_state for pdu in received} == {2}
    assert smsc.records.counts.duplicates == 2
    client.unbind()
    client.disconnect()


@pytest.mark.parametrize("style", ["udh", "sar", "payload"])
def test_a_third_party_parser_reads_what_the_driver_writes(style: str) -> None:
    client = smpplib.client.Client("127.0.0.1", 1, allow_unknown_opt_params=True)
    group = message_group("я" * 150, ["254711000000"])
    submission = Submission(config(long_messages=style, tlvs={"0x0201": "01"}), References(), [group])
    for number, (head, body) in enumerate(zip(submission.heads, submission.bodies, strict=True), 1):
        read = smpplib.smpp.parse_pdu(head + b"\0\0\0\7" + body, client=client, allow_unknown_opt_params=True)
        assert (read.command, read.sequence, read.status) == ("submit_sm", 7, 0)
        assert (read.source_addr, read.destination_addr) == (b"ACME", b"254711000000")
        assert (read.source_addr_ton, read.dest_addr_ton, read.data_coding) == (5, 1, 8)
        assert read.privacy_indicator == 1
        if style == "udh":
            assert read.esm_class == 0x40
            assert read.short_message[4:6] == bytes((3, number))
        elif style == "sar":
            assert (read.sar_total_segments, read.sar_segment_seqnum) == (3, number)
        else:
            assert read.message_payload.decode("utf-16-be") == group.text
