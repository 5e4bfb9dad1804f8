"""Encodes and decodes text by data_coding (SMPP 3.4 §5.2.19).

GSM-7 is unpacked, one septet per octet, as carriers use it over SMPP. The carrier defines what data_coding 0 means, so
the caller has to say. UCS-2 is UTF-16 in network byte order.
"""

from typing import Literal

from shared.sms import gsm7

Alphabet = Literal["gsm7", "latin1", "ascii", "ucs2"]

DATA_CODING: dict[Alphabet, int] = {"gsm7": 0, "ascii": 1, "latin1": 3, "ucs2": 8}
"""The standard data_coding of each alphabet."""
_CODEC = {"ascii": "ascii", "latin1": "latin-1", "ucs2": "utf-16-be"}


def encode(text: str, alphabet: Alphabet) -> bytes:
    """Encode a text. Raises UnicodeEncodeError (a ValueError) for a character that is not in the alphabet."""
    return gsm7.encode(text) if alphabet == "gsm7" else text.encode(_CODEC[alphabet])


def decode(octets: bytes, data_coding: int, default: Alphabet = "gsm7", *, halves: bool = False) -> str:
    """Decode received octets as well as possible. Never raises.

    `default` is the alphabet of data_coding 0. With `halves`, a lone surrogate is kept: its other half may be in the
    next part.
    """
    alphabet = next((name for name, coding in DATA_CODING.items() if coding == data_coding), None)
    if data_coding == 0:
        alphabet = default
    if alphabet == "gsm7" and octets.isascii():
        return gsm7.decode(octets)
    if alphabet == "ucs2":
        whole = octets[: len(octets) & ~1] if halves else octets
        return whole.decode("utf-16-be", errors="surrogatepass" if halves else "replace")
    return octets.decode("latin-1")
