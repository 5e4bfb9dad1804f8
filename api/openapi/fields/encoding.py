"""The words of encodings."""

from typing import Final

from api.openapi.fields.core import Word

WHY = "Why the text is UCS-2, or what `on_unicode: transliterate` changed; absent where it is GSM-7 as given."

WORDS: Final[dict[str, Word]] = {
    "Single.encoding": (WHY, None),
    "Bulk.encoding": (WHY, None),
    "Quote.encoding": (WHY, None),
    "Error.encoding": ("Of `unicode_rejected`: which characters are not in GSM-7.", None),
    "Encoding.name": ("What the text is sent in.", "ucs2"),
    "Encoding.cause": (
        "The characters that make it UCS-2, in their order: the first 20. Where texts differ by recipient, those of "
        "the message itself.",
        None,
    ),
    "Encoding.cause_count": ("How many such characters there are.", 1),
    "Encoding.changed": ("The characters that were replaced, in their order: the first 20.", None),
    "Encoding.changed_count": ("How many characters were replaced.", 0),
    "Encoding.gsm7_alternative": (
        "What `on_unicode: transliterate` would send; null: it would change what the text says, or the texts differ.",
        None,
    ),
    "Character.index": ("Its place in the message: code points, from 0.", 3),
    "Character.char": ("The character.", "\u2019"),
    "Character.codepoint": ("Its number in Unicode.", "U+2019"),
    "Character.replacement": (
        "What may stand in its place; empty: nothing, it does not show. Null: nothing will do.",
        "'",
    ),
    "Alternative.text": ("The text in GSM-7.", "It's ready."),
    "Alternative.segments": ("Segments of one message.", 1),
    "Alternative.cost": ("Credits for all recipients.", 3),
}
