"""The settings of one SMPP carrier, validated on creation."""

import re
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from shared.carriers.error_catalogue import CATALOGUE
from shared.carriers.error_codes import unknown_codes
from shared.carriers.smpp.alphabets import DATA_CODING, Alphabet

__all__ = ["ConfigError", "SmppConfig"]

PRINTABLE = re.compile(r"[\x20-\x7e]*+")
LIMITS: dict[str, tuple[float, float]] = {
    "port": (1, 65_535),
    "window": (1, 1_000),
    "rate": (0, 100_000),
    "source_ton": (0, 255),
    "source_npi": (0, 255),
    "destination_ton": (0, 255),
    "destination_npi": (0, 255),
    "data_coding": (0, 255),
    "registered_delivery": (0, 31),
    "protocol_id": (0, 255),
    "priority": (0, 3),
    "id_width": (0, 64),
    "receipt_utc_offset": (-14, 14),
    "enquire_link": (0.1, 3_600),
    "response_timeout": (0.1, 600),
    "connect_timeout": (0.1, 60),
    "max_pdu": (1_024, 1_048_576),
    "message_id_tag": (0x1400, 0x3FFF),
}
LENGTHS = {"host": 255, "system_id": 15, "password": 64, "system_type": 12, "service_type": 5}
"""Most characters of each, without the NUL (SMPP 3.4 §5.2). Passwords longer than the standard's 8 are common."""


class ConfigError(ValueError):
    """A setting is invalid. Names it and the allowed values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SmppConfig:
    """One SMPP account at a carrier.

    Raises ConfigError for an invalid value. The repr does not show the password.
    """

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
    tlvs: Mapping[int, bytes] = field(default_factory=dict, repr=False)
    """Optional parameters for every submit_sm, by tag."""
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
        for name in ("tls", "user_message_reference", "unmarked_receipts"):
            if not isinstance(getattr(self, name), bool):
                raise ConfigError(f"{name} must be true or false")
        for each in fields(self):
            value = getattr(self, each.name)
            _check_number(each.name, value)
            if get_origin(each.type) is Literal:
                _check_choice(each.name, value, get_args(each.type))
        for name, maximum in LENGTHS.items():
            _check_text(name, getattr(self, name), maximum)
        if not self.host or not self.system_id or not self.name:
            raise ConfigError("host, system_id and name must not be empty")
        if self.tls_ca is not None and not Path(self.tls_ca).is_file():
            raise ConfigError(f"tls_ca: there is no file {self.tls_ca}")
        if self.tls_ca is not None and not self.tls:
            raise ConfigError("tls_ca is set, but tls is not: set tls = true or remove tls_ca")
        if not isinstance(self.error_codes, Mapping) or not all(
            isinstance(code, str) for code in self.error_codes.values()
        ):
            raise ConfigError('error_codes: map codes to errors, such as {"042" = "absent_subscriber"}')
        for code in unknown_codes(self.error_codes):
            raise ConfigError(f"error_codes: {code!r} is not one of {', '.join(CATALOGUE)}")
        for tag, value in self.tlvs.items():
            if not isinstance(tag, int) or not 0 < tag <= 0xFFFF or not isinstance(value, bytes) or len(value) > 255:
                raise ConfigError("tlvs: each needs a tag from 1 to 65535 and a value of at most 255 bytes")

    @classmethod
    def from_mapping(cls, table: Mapping[str, Any]) -> "SmppConfig":
        """Create from JSON values; `tlvs` is `{"0x1401": "hex"}`. Raises ConfigError, also for an unknown setting."""
        unknown = sorted(set(table) - {each.name for each in fields(cls)})
        if unknown:
            raise ConfigError(f"there is no setting {unknown[0]}")
        missing = [name for name in ("host", "system_id", "password") if name not in table]
        if missing:
            raise ConfigError(f"{missing[0]} is missing")
        values = dict(table)
        try:
            values["tlvs"] = {int(tag, 0): bytes.fromhex(value) for tag, value in table.get("tlvs", {}).items()}
        except (ValueError, TypeError, AttributeError):
            raise ConfigError('tlvs: map tags to hex values, such as {"0x1401": "6869"}') from None
        return cls(**values)

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


def _check_number(name: str, value: object) -> None:
    if name not in LIMITS or (value is None and name in OPTIONAL):
        return
    low, high = LIMITS[name]
    whole = name not in FRACTIONS
    if isinstance(value, bool) or not isinstance(value, int if whole else (int, float)) or not low <= value <= high:
        raise ConfigError(f"{name} must be a {'whole ' if whole else ''}number from {low:g} to {high:g}, not {value!r}")


OPTIONAL = {"source_ton", "source_npi", "data_coding", "message_id_tag"}
FRACTIONS = {"rate", "receipt_utc_offset", "enquire_link", "response_timeout", "connect_timeout"}


def _check_choice(name: str, value: object, choices: tuple[object, ...]) -> None:
    if value not in choices:
        raise ConfigError(f"{name} must be one of {', '.join(map(str, choices))}, not {value!r}")


def _check_text(name: str, value: object, maximum: int) -> None:
    if not isinstance(value, str) or not PRINTABLE.fullmatch(value) or len(value) > maximum:
        raise ConfigError(f"{name} must be at most {maximum} printable ASCII characters")
