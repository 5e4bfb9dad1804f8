"""The carrier's message ids: one message may have two spellings, in the answer to its submit and in its receipt."""

from collections.abc import Callable

from worker.carriers.smpp.config import SmppConfig

LONGEST = 255
"""Characters of an id that is kept; the standard allows 64. A longer one is as good as none."""


def answer_id(config: SmppConfig) -> Callable[[str], str] | None:
    """What makes the id of an answer the message's reference; None where that is the id as it came."""
    if config.id_case == "keep" and config.id_zeros == "keep" and config.id_width == 0:
        return None
    return lambda carrier_id: _spelled(config, carrier_id) if carrier_id else carrier_id


def receipt_id(config: SmppConfig, from_text: str | None, from_tlv: str | None) -> str | None:
    """The reference that a receipt is about; None if it names none.

    A carrier that puts two different ids into a receipt follows the standard in its receipted_message_id: that is the
    id of the answer (SMPP 3.4 §5.3.2.12). Where there is only one, or one twice, it is in the declared form.
    """
    if from_tlv and from_text and from_tlv != from_text:
        return _spelled(config, from_tlv)
    carrier_id = from_tlv or from_text
    if not carrier_id or len(carrier_id) > LONGEST:
        return None
    return _spelled(config, _converted(config, carrier_id))


def _converted(config: SmppConfig, carrier_id: str) -> str:
    """The id in the other base; as it came where it is no number of that base."""
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
