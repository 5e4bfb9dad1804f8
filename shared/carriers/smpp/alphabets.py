"""Texts as octets, by data_coding (SMPP 3.4 §5.2.19).

GSM-7 travels unpacked, a septet to an octet, as carriers do it over SMPP; what data_coding 0 means is the carrier's
choice, so the caller names it. UCS-2 is UTF-16 in network order.
"""

from typing import Literal, get_args

from shared.sms import gsm7

Alphabet = Literal["gsm7", "latin1", "ascii", "ucs2"]
ALPHABETS: tuple[str, ...] = get_args(Alphabet)

DATA_CODING: dict[Alphabet, int] = {"gsm7": 0, "ascii": 1, "latin1": 3, "ucs2": 8}
"""The data_coding that says so by the standard."""
_CODEC = {"ascii": "ascii", "latin1": "latin-1", "ucs2": "utf-16-be"}


def encode(text: str, alphabet: Alphabet) -> bytes:
    """The text's octets. Raises UnicodeEncodeError (a ValueError) for a character that the alphabet lacks."""
    return gsm7.encode(text) if alphabet == "gsm7" else text.encode(_CODEC[alphabet])


def decode(octets: bytes, data_coding: int, default: Alphabet = "gsm7", *, halves: bool = False) -> str:
    """The text of octets from the other side, as well as it can be read: it never fails.

    `default` is what data_coding 0 means there. With `halves`, half a surrogate pair stays one: the other half may
    stand in the next part.
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
