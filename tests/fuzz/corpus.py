"""What carriers send when they are well, for each target."""

import json

from bulksms.smsc.behavior import GARBAGE
from bulksms.smsc.delivery_queue import Receipt
from bulksms.smsc.inbound import inbound_parts
from shared.carriers.smpp.constants import RESPONSE, Command, Tag
from shared.carriers.smpp.pdu import Bind, Message, bind_body, message_body, pdu, tlv

TEXTS = (
    "id:0000000001 sub:001 dlvrd:001 submit date:2605041230 done date:2605041231 stat:DELIVRD err:000 text:Hi",
    "id:abc-DEF stat:UNDELIV err:042",
    "ID: 17, Status: Expired; Done Date: 20260504123015",
    "stat:ACCEPTD id:" + "9" * 64,
    "Hello, not a receipt",
)
DUE = Receipt("0000000001", b"\5\0ACME\0", b"\1\1254711000000\0", True)
TLVS = {
    Tag.RECEIPTED_MESSAGE_ID: b"0000000001\0",
    Tag.MESSAGE_STATE: b"\2",
    Tag.NETWORK_ERROR_CODE: b"\3\0\1",
    Tag.MESSAGE_PAYLOAD: b"x" * 300,
    Tag.SAR_MSG_REF_NUM: b"\0\7",
    Tag.SAR_TOTAL_SEGMENTS: b"\2",
    Tag.SAR_SEGMENT_SEQNUM: b"\1",
}


def deliveries() -> list[bytes]:
    """Bodies of deliver_sm's: receipts, and messages from phones."""
    made = [DUE.deliver_sm(1, "2605041230")[16:], DUE._replace(delivered=False).deliver_sm(1, "2605041230")[16:]]
    texts = ("Hi", "x" * 400, "я" * 200, "😀" * 80)
    made += [part.body for text in texts for part in inbound_parts("254711000000", "ACME", text)]
    for text in TEXTS:
        for esm_class in (0, 4, 0x20, 0x40, 0x44):
            for coding in (0, 1, 3, 8):
                octets = text.encode("utf-16-be") if coding == 8 else text.encode()
                message = Message("254711000000", "ACME", octets[:254], esm_class=esm_class, data_coding=coding)
                made += [message_body(message), message_body(message) + b"".join(tlv(*each) for each in TLVS.items())]
    return made


def stream() -> list[bytes]:
    """PDUs as an SMSC sends them."""
    made = [pdu(Command.DELIVER_SM, 0, number, body) for number, body in enumerate(deliveries()[::7], 1)]
    made += [pdu(Command.SUBMIT_SM_RESP, 0, sequence, b"id-%d\0" % sequence) for sequence in range(1, 40)]
    made += [pdu(Command.SUBMIT_SM_RESP, status, 3) for status in (0x58, 0x14, 0x0B, 8, 0x400)]
    made += [pdu(Command.ENQUIRE_LINK, 0, 9), pdu(Command.ENQUIRE_LINK_RESP, 0, 9), pdu(Command.GENERIC_NACK, 3, 2)]
    made += [pdu(Command.UNBIND, 0, 5), pdu(Command.DATA_SM, 0, 6, b"\0\1\1254\0\1\1254\0\4\0\0"), *GARBAGE]
    return made


def requests() -> list[bytes]:
    """PDUs as a client of an SMSC sends them."""
    bind = bind_body(Bind("us", "right"))
    submit = message_body(Message("ACME", "254711000000", b"Hi", registered_delivery=1))
    kinds = (Command.BIND_TRANSCEIVER, Command.BIND_RECEIVER, Command.BIND_TRANSMITTER)
    made = [pdu(kind, 0, 1, bind) for kind in kinds]
    made += [pdu(Command.BIND_TRANSCEIVER, 0, 1, bind) + pdu(Command.SUBMIT_SM, 0, 2, submit)] * 5
    made += [pdu(Command.SUBMIT_SM, 0, 2, submit), pdu(Command.UNBIND, 0, 3), pdu(Command.ENQUIRE_LINK, 0, 4)]
    return [*made, pdu(Command.DELIVER_SM | RESPONSE, 0, 1, b"\0"), pdu(Command.DELIVER_SM | RESPONSE, 8, 1)]


def responses() -> list[bytes]:
    """Answers of carriers over HTTP."""
    settings = [
        {"messages": [{"to": "254711000000", "id": "a", "status": "accepted"}]},
        {"messages": [{"to": "+254711000001", "id": 7, "status": "rejected"}] * 2, "code": "x"},
        {"sid": "SM1", "status": "queued", "code": None},
        {"code": 21211, "message": "no", "status": 400},
        {"SMSMessageData": {"Message": "InvalidSenderId", "Recipients": []}},
        {"SMSMessageData": {"Recipients": [{"statusCode": 101, "number": "+254711000000", "messageId": "x"}]}},
        {"message_uuid": "aaaa"},
        [],
        {},
        None,
    ]
    return [json.dumps(each).encode() for each in settings]


def calls() -> list[bytes]:
    """What carriers over HTTP call us with."""
    forms = [
        b"MessageSid=SM1&MessageStatus=delivered&To=%2B254711000000&ErrorCode=30003",
        b"id=ATX&status=Success&phoneNumber=%2B254711000000&failureReason=x",
        b"MessageSid=SM2&From=%2B254711000000&To=ACME&Body=STOP",
    ]
    settings = [
        {"receipts": [{"id": "a", "status": "delivered", "to": "254711000000", "at": "2026-05-04T12:30:15Z"}]},
        {
            "message_uuid": "u",
            "status": "rejected",
            "error": {"title": "x"},
            "timestamp": "2026-05-04T12:30:15.000+02:00",
        },
        {"messages": [{"id": "m", "from": "254711000000", "to": "ACME", "text": "Hi"}]},
        {"message_uuid": "u", "from": "254", "to": "ACME", "text": "😀"},
    ]
    return [*forms, *(json.dumps(each).encode() for each in settings)]
