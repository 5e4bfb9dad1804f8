"""The settings of one SMPP carrier, validated on creation."""

import re
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from shared.carriers.config_tables import ConfigError, Table
from shared.carriers.error_catalogue import CATALOGUE
from shared.carriers.error_codes import unknown_codes
from shared.carriers.smpp.alphabets import DATA_CODING, Alphabet

__all__ = ["SmppConfig"]

PRINTABLE = re.compile(r"[\x20-\x7e]*+")
LENGTHS = {"host": 255, "system_id": 15, "password": 64, "system_type": 12, "service_type": 5}
"""Most characters of each, without the NUL (SMPP 3.4 §5.2). Passwords longer than the standard's 8 are common."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SmppConfig(Table):
    """One SMPP account at a carrier. `SmppConfig.of` creates it; its repr does not show the password."""

    host: str
    port: int = 2775
    system_id: str
    password: str = field(repr=False)
    name: str = "smpp"
    system_type: str = ""
    bind: Literal["transceiver", "transmitter+receiver"] = "transceiver"
    """One connection for both directions, or one per direction."""
    tls: bool = False
    tls_ca: str | None = None
    """PEM file of trusted CA certificates, instead of the system's."""
    window: int = 100
    """Most outstanding submit_sm PDUs."""
    rate: float = 0.0
    """Segments per second that the carrier takes; 0 means no limit. The driver itself does not pace."""
    source_ton: int | None = None
    """None: 5 for alphanumeric senders, 3 for up to eight digits, 1 for more."""
    source_npi: int | None = None
    """None: 1 if source_ton is 1, else 0."""
    destination_ton: int = 1
    destination_npi: int = 1
    service_type: str = ""
    alphabet: Alphabet = "gsm7"
    """For texts counted as GSM-7. Others go as UCS-2, unless that takes more segments than were paid."""
    data_coding: int | None = None
    """The data_coding of that alphabet; None for the standard's value. 0 is the SMSC default alphabet."""
    long_messages: Literal["udh", "sar", "payload"] = "udh"
    """Parts with a user data header, parts with sar_ parameters, or a single message_payload."""
    registered_delivery: int = 1
    validity: Literal["relative", "absolute", "none"] = "relative"
    protocol_id: int = 0
    priority: int = 0
    tlvs: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Optional parameters for every submit_sm, in hex, by tag: `{"0x1401": "6869"}`."""
    pass_tlvs: list[int] = field(default_factory=list)
    """Tags of the parameters of a customer's submit that are passed on, instead of those in `tlvs`."""
    user_message_reference: bool = False
    """Whether each submit_sm carries the last two octets of our message id in user_message_reference (§5.3.2.17)."""
    message_id_tag: int | None = None
    """Tag of a vendor-specific parameter in which each submit_sm carries our message id, 16 octets. For simulators."""
    receipt_id: Literal["raw", "hex_to_decimal", "decimal_to_hex"] = "raw"
    """How to convert the id in a receipt to the one in the submit_sm_resp."""
    unmarked_receipts: bool = False
    """Whether to accept a deliver_sm of esm_class 0 that reads like a receipt. Phones can then forge receipts."""
    receipts_of_long_messages: Literal["each", "one"] = "each"
    """Whether the carrier reports each part of a long message, or only one of them."""
    id_case: Literal["keep", "lower", "upper"] = "keep"
    """For case-insensitive ids: converts both the response's and the receipt's."""
    id_zeros: Literal["keep", "strip"] = "keep"
    """For ids that match with and without leading zeros: strips them from both."""
    id_width: int = 0
    """Pads shorter ids with leading zeros, both the response's and the receipt's."""
    receipt_utc_offset: float = 0.0
    """Hours by which the times in receipts are ahead of UTC."""
    error_codes: Mapping[str, str] = field(default_factory=dict)
    """Maps the carrier's codes, such as a receipt's `042`, to the error catalogue's."""
    enquire_link: float = 30.0
    """Seconds of silence before an enquire_link is sent."""
    response_timeout: float = 10.0
    """Seconds that `submit` waits for responses; messages without one are then in doubt."""
    connect_timeout: float = 10.0
    """Timeout in seconds for connecting, and for the responses to a bind and an enquire_link."""
    max_pdu: int = 65_536
    """The largest PDU accepted from the carrier, in octets; a larger one ends the connection."""

    def __post_init__(self) -> None:
        """Check what the types do not tell. Raises ConfigError."""
        for name, maximum in LENGTHS.items():
            value = getattr(self, name)
            if not PRINTABLE.fullmatch(value) or len(value) > maximum:
                raise ConfigError(f"{name} must be at most {maximum} printable ASCII characters")
        if not self.host or not self.system_id or not self.name:
            raise ConfigError("host, system_id and name must not be empty")
        if self.tls_ca is not None and not Path(self.tls_ca).is_file():
            raise ConfigError(f"tls_ca: there is no file {self.tls_ca}")
        if self.tls_ca is not None and not self.tls:
            raise ConfigError("tls_ca is set, but tls is not: set tls = true or remove tls_ca")
        for code in unknown_codes(self.error_codes):
            raise ConfigError(f"error_codes: {code!r} is not one of {', '.join(CATALOGUE)}")
        try:
            parameters = self.parameters
        except ValueError:
            raise ConfigError('tlvs: map tags to hex values, such as {"0x1401": "6869"}') from None
        if any(not 0 < tag <= 0xFFFF or len(value) > 255 for tag, value in parameters.items()):
            raise ConfigError("tlvs: each needs a tag from 1 to 65535 and a value of at most 255 bytes")

    @property
    def parameters(self) -> dict[int, bytes]:
        """The optional parameters for every submit_sm, by tag."""
        return {int(tag, 0): bytes.fromhex(value) for tag, value in self.tlvs.items()}

    @property
    def plain_ids(self) -> bool:
        """Whether the ids in receipts match those in responses without conversion."""
        return (self.receipt_id, self.id_case, self.id_zeros, self.id_width) == ("raw", "keep", "keep", 0)

    @property
    def coding(self) -> int:
        """The data_coding of texts in `alphabet`."""
        return DATA_CODING[self.alphabet] if self.data_coding is None else self.data_coding

    def tls_context(self) -> ssl.SSLContext | None:
        """The TLS context, which always verifies the carrier's certificate and host name; None without TLS."""
        return ssl.create_default_context(cafile=self.tls_ca) if self.tls else None
