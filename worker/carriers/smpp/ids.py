"""The carrier's message ids. A carrier may spell the same id differently in the response and in the receipt."""

from collections.abc import Callable

from worker.carriers.smpp.config import SmppConfig

MAX_MESSAGE_ID_LENGTH = 255
"""The longest id that is kept, in characters; the standard allows 64. A longer one could not be stored in an index."""

PADDING = " \0"
"""What some carriers fill ids up with, at their end."""


def answer_id(config: SmppConfig) -> Callable[[str], str] | None:
    """A function from a response's id to the message's reference; None if the id is used unchanged."""
    if config.id_case == "keep" and config.id_zeros == "keep" and config.id_width == 0:
        return None
    return lambda carrier_id: _spelled(config, carrier_id) if carrier_id else carrier_id


def receipt_id(config: SmppConfig, from_text: str | None, from_tlv: str | None) -> str | None:
    """The reference of the receipt's message; None if the receipt has no id, or one that could not be stored.

    If text and TLV have different ids, the TLV follows the standard: it is the response's id (SMPP 3.4 §5.3.2.12).
    A single id, or twice the same one, is in the configured form. Blanks and NULs after an id are padding.
    """
    from_text, from_tlv = from_text and from_text.rstrip(PADDING), from_tlv and from_tlv.rstrip(PADDING)
    carrier_id = from_tlv or from_text
    if not carrier_id or len(carrier_id) > MAX_MESSAGE_ID_LENGTH or not carrier_id.isprintable():
        return None
    if from_tlv and from_text and from_tlv != from_text:
        return _spelled(config, from_tlv)
    return _spelled(config, _converted(config, carrier_id))


def _converted(config: SmppConfig, carrier_id: str) -> str:
    """The id in the other base; unchanged if it is not a number in that base."""
    try:
        if config.receipt_id == "hex_to_decimal":
            return str(int(carrier_id, 16))
        if config.receipt_id == "decimal_to_hex":
            return f"{int(carrier_id):x}"
    except ValueError:
        pass
    return carrier_id


def _spelled(config: SmppConfig, carrier_id: str) -> str:
    if config.id_case != "keep":
        carrier_id = carrier_id.lower() if config.id_case == "lower" else carrier_id.upper()
    if config.id_zeros == "strip":
        carrier_id = carrier_id.lstrip("0") or "0"
    return carrier_id.rjust(config.id_width, "0")
