"""What the driver is told of one carrier, checked when it is made."""

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
    "answer_time": (0.1, 600),
    "connect_time": (0.1, 60),
    "max_pdu": (1_024, 1_048_576),
    "message_id_tag": (0x1400, 0x3FFF),
}
LENGTHS = {"host": 255, "system_id": 15, "password": 64, "system_type": 12, "service_type": 5}
"""Characters of each; of the strings of SMPP 3.4 §5.2 without their NUL. Many carriers give longer passwords than 8."""


class ConfigError(ValueError):
    """A carrier's settings cannot be used. Says which one, and what it may be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SmppConfig:
    """One SMPP account at a carrier.

    Raises ConfigError for a value that cannot be used. The password is not in its repr.
    """

    host: str
    port: int = 2775
    system_id: str
    password: str = field(repr=False)
    name: str = "smpp"
    system_type: str = ""
    bind: Literal["transceiver", "transmitter+receiver"] = "transceiver"
    """One connection for both directions, or one for each."""
    tls: bool = False
    tls_ca: str | None = None
    """A PEM file with the certificates to trust, instead of the system's."""
    window: int = 100
    """submit_sm's that may be unanswered at a time."""
    rate: float = 0.0
    """Segments per second that the carrier takes; 0 is no limit. The driver does not pace by itself."""
    source_ton: int | None = None
    """None: 5 for letters, 3 for up to eight digits, 1 for more."""
    source_npi: int | None = None
    """None: 1 with a source_ton of 1, else 0."""
    destination_ton: int = 1
    destination_npi: int = 1
    service_type: str = ""
    alphabet: Alphabet = "gsm7"
    """For texts that are counted as GSM-7; those it cannot carry go as UCS-2, unless that takes more SMS than paid."""
    data_coding: int | None = None
    """Of that alphabet; None is what the standard says. 0 is the carrier's own default."""
    long_messages: Literal["udh", "sar", "payload"] = "udh"
    """Parts with a user data header, parts with sar_ parameters, or one message_payload."""
    registered_delivery: int = 1
    validity: Literal["relative", "absolute", "none"] = "relative"
    protocol_id: int = 0
    priority: int = 0
    tlvs: Mapping[int, bytes] = field(default_factory=dict, repr=False)
    """Optional parameters of every submit_sm, by tag."""
    user_message_reference: bool = False
    """Whether each submit_sm carries the last two octets of our message id in user_message_reference (§5.3.2.17)."""
    message_id_tag: int | None = None
    """Of a vendor's optional parameter in which each submit_sm carries our message id, 16 octets. For simulators."""
    receipt_id: Literal["raw", "hex_to_decimal", "decimal_to_hex"] = "raw"
    """What turns the id in a receipt into the one in the answer to the submit."""
    unmarked_receipts: bool = False
    """Whether a delivery of esm_class 0 that reads like a receipt is one. A phone can then write some of its own."""
    id_case: Literal["keep", "lower", "upper"] = "keep"
    """Ids that are the same in either case: both the answer's and the receipt's are made so."""
    id_zeros: Literal["keep", "strip"] = "keep"
    """Ids that are the same with and without leading zeros: they are taken off both."""
    id_width: int = 0
    """Zeros are put before ids that are shorter, the receipt's and the answer's."""
    receipt_utc_offset: float = 0.0
    """Hours by which the times in receipts are ahead of UTC."""
    error_codes: Mapping[str, str] = field(default_factory=dict)
    """The code of the catalogue of messages' errors for each code of the carrier's, such as a receipt's `042`."""
    enquire_link: float = 30.0
    """Seconds of silence after which the link is asked whether it lives."""
    answer_time: float = 10.0
    """Seconds for which `submit` waits for answers; what has none then is in doubt."""
    connect_time: float = 10.0
    """Seconds for connecting, and for the answers to a bind and to an enquire_link."""
    max_pdu: int = 65_536
    """Octets of the longest PDU taken from the carrier; a longer one ends the connection."""

    def __post_init__(self) -> None:
        for name in ("tls", "user_message_reference", "unmarked_receipts"):
            if not isinstance(getattr(self, name), bool):
                raise ConfigError(f"{name}: true or false")
        for each in fields(self):
            value = getattr(self, each.name)
            _check_number(each.name, value)
            if get_origin(each.type) is Literal:
                _check_choice(each.name, value, get_args(each.type))
        for name, most in LENGTHS.items():
            _check_text(name, getattr(self, name), most)
        if not self.host or not self.system_id or not self.name:
            raise ConfigError("host, system_id and name may not be empty")
        if self.tls_ca is not None and not Path(self.tls_ca).is_file():
            raise ConfigError(f"tls_ca: there is no file {self.tls_ca}")
        if self.tls_ca is not None and not self.tls:
            raise ConfigError("tls_ca is set, but tls is not")
        if not isinstance(self.error_codes, Mapping) or not all(
            isinstance(code, str) for code in self.error_codes.values()
        ):
            raise ConfigError('error_codes: write {"042" = "absent_subscriber"}, a code and what it means')
        for code in unknown_codes(self.error_codes):
            raise ConfigError(f"error_codes: {code!r} is not one of {', '.join(CATALOGUE)}")
        for tag, value in self.tlvs.items():
            if not isinstance(tag, int) or not 0 < tag <= 0xFFFF or not isinstance(value, bytes) or len(value) > 255:
                raise ConfigError("tlvs: each is a tag from 1 to 65535 with at most 255 bytes")

    @classmethod
    def from_mapping(cls, table: Mapping[str, Any]) -> "SmppConfig":
        """Make one from JSON's values; `tlvs` is `{"0x1401": "hex"}`. Raises ConfigError, also for an unknown name."""
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
            raise ConfigError('tlvs: write {"0x1401": "6869"}, a tag and octets in hex') from None
        return cls(**values)

    @property
    def plain_ids(self) -> bool:
        """Whether an id in a receipt is the one in the answer as it stands."""
        return (self.receipt_id, self.id_case, self.id_zeros, self.id_width) == ("raw", "keep", "keep", 0)

    @property
    def coding(self) -> int:
        """The data_coding of texts in `alphabet`."""
        return DATA_CODING[self.alphabet] if self.data_coding is None else self.data_coding

    def tls_context(self) -> ssl.SSLContext | None:
        """What TLS is made with, the carrier's certificate and name always checked; None without TLS."""
        return ssl.create_default_context(cafile=self.tls_ca) if self.tls else None


def _check_number(name: str, value: object) -> None:
    if name not in LIMITS or (value is None and name in OPTIONAL):
        return
    low, high = LIMITS[name]
    whole = name not in FRACTIONS
    if isinstance(value, bool) or not isinstance(value, int if whole else (int, float)) or not low <= value <= high:
        raise ConfigError(f"{name}: a {'whole ' if whole else ''}number from {low:g} to {high:g}, not {value!r}")


OPTIONAL = {"source_ton", "source_npi", "data_coding", "message_id_tag"}
FRACTIONS = {"rate", "receipt_utc_offset", "enquire_link", "answer_time", "connect_time"}


def _check_choice(name: str, value: object, choices: tuple[object, ...]) -> None:
    if value not in choices:
        raise ConfigError(f"{name}: one of {', '.join(map(str, choices))}, not {value!r}")


def _check_text(name: str, value: object, most: int) -> None:
    if not isinstance(value, str) or not PRINTABLE.fullmatch(value) or len(value) > most:
        raise ConfigError(f"{name}: at most {most} printable ASCII characters")
