"""The simulated SMSC and the driver's PDUs, before an implementation of SMPP that is not ours."""

import pytest
import smpplib
import smpplib.client
import smpplib.smpp

from tests.unit.carriers.smpp.making import config, message_group
from worker.carriers.smpp.parts import References
from worker.carriers.smpp.submission import Submission


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
