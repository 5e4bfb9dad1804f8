"""Constants of SMPP 3.4: commands (§5.1.2.1), statuses (§5.1.3), optional parameters (§5.3.2)."""

from enum import IntEnum

RESPONSE = 0x80000000
"""Bit set in the command_id of every response."""
MAX_SEQUENCE = 0x7FFFFFFF
"""Highest sequence_number; the lowest is 1 (§5.1.4)."""


class Command(IntEnum):
    """command_id of a PDU."""

    GENERIC_NACK = 0x80000000
    BIND_RECEIVER = 0x01
    BIND_TRANSMITTER = 0x02
    QUERY_SM = 0x03
    SUBMIT_SM = 0x04
    DELIVER_SM = 0x05
    UNBIND = 0x06
    CANCEL_SM = 0x08
    BIND_TRANSCEIVER = 0x09
    OUTBIND = 0x0B
    ENQUIRE_LINK = 0x15
    ALERT_NOTIFICATION = 0x102
    DATA_SM = 0x103
    BIND_RECEIVER_RESP = 0x80000001
    BIND_TRANSMITTER_RESP = 0x80000002
    QUERY_SM_RESP = 0x80000003
    SUBMIT_SM_RESP = 0x80000004
    DELIVER_SM_RESP = 0x80000005
    UNBIND_RESP = 0x80000006
    CANCEL_SM_RESP = 0x80000008
    BIND_TRANSCEIVER_RESP = 0x80000009
    ENQUIRE_LINK_RESP = 0x80000015
    DATA_SM_RESP = 0x80000103


class Status(IntEnum):
    """command_status of a response. Values from 0x400 on are defined by the carrier."""

    ESME_ROK = 0x00
    ESME_RINVMSGLEN = 0x01
    ESME_RINVCMDLEN = 0x02
    ESME_RINVCMDID = 0x03
    ESME_RINVBNDSTS = 0x04
    ESME_RALYBND = 0x05
    ESME_RINVPRTFLG = 0x06
    ESME_RINVREGDLVFLG = 0x07
    ESME_RSYSERR = 0x08
    ESME_RINVSRCADR = 0x0A
    ESME_RINVDSTADR = 0x0B
    ESME_RINVMSGID = 0x0C
    ESME_RBINDFAIL = 0x0D
    ESME_RINVPASWD = 0x0E
    ESME_RINVSYSID = 0x0F
    ESME_RCANCELFAIL = 0x11
    ESME_RREPLACEFAIL = 0x13
    ESME_RMSGQFUL = 0x14
    ESME_RINVSERTYP = 0x15
    ESME_RINVNUMDESTS = 0x33
    ESME_RINVDLNAME = 0x34
    ESME_RINVDESTFLAG = 0x40
    ESME_RINVSUBREP = 0x42
    ESME_RINVESMCLASS = 0x43
    ESME_RCNTSUBDL = 0x44
    ESME_RSUBMITFAIL = 0x45
    ESME_RINVSRCTON = 0x48
    ESME_RINVSRCNPI = 0x49
    ESME_RINVDSTTON = 0x50
    ESME_RINVDSTNPI = 0x51
    ESME_RINVSYSTYP = 0x53
    ESME_RINVREPFLAG = 0x54
    ESME_RINVNUMMSGS = 0x55
    ESME_RTHROTTLED = 0x58
    ESME_RINVSCHED = 0x61
    ESME_RINVEXPIRY = 0x62
    ESME_RINVDFTMSGID = 0x63
    ESME_RX_T_APPN = 0x64
    ESME_RX_P_APPN = 0x65
    ESME_RX_R_APPN = 0x66
    ESME_RQUERYFAIL = 0x67
    ESME_RINVOPTPARSTREAM = 0xC0
    ESME_ROPTPARNOTALLWD = 0xC1
    ESME_RINVPARLEN = 0xC2
    ESME_RMISSINGOPTPARAM = 0xC3
    ESME_RINVOPTPARAMVAL = 0xC4
    ESME_RDELIVERYFAILURE = 0xFE
    ESME_RUNKNOWNERR = 0xFF


class Tag(IntEnum):
    """Tags of the optional parameters in use."""

    ADDITIONAL_STATUS_INFO_TEXT = 0x001D
    RECEIPTED_MESSAGE_ID = 0x001E
    USER_MESSAGE_REFERENCE = 0x0204
    SAR_MSG_REF_NUM = 0x020C
    SAR_TOTAL_SEGMENTS = 0x020E
    SAR_SEGMENT_SEQNUM = 0x020F
    NETWORK_ERROR_CODE = 0x0423
    MESSAGE_PAYLOAD = 0x0424
    MESSAGE_STATE = 0x0427


UDH_INDICATOR = 0x40
"""esm_class bit: short_message begins with a user data header (§5.2.12)."""
MESSAGE_TYPE = 0x3C
"""esm_class bits with the message type of a deliver_sm."""
INTERMEDIATE = 0x20
"""Message type: intermediate notification."""
RECEIPT_TYPES = frozenset({0x04, INTERMEDIATE})
ACKNOWLEDGEMENT_TYPES = frozenset({0x08, 0x10})
"""SME delivery acknowledgement and SME manual or user acknowledgement."""
"""Message types: delivery receipt of the SMSC, intermediate notification."""


def status_name(status: int) -> str:
    """The name of a status, such as `ESME_RTHROTTLED`, or `status_0x00000401` if the standard does not define it."""
    try:
        return Status(status).name
    except ValueError:
        return f"status_0x{status:08x}"
