r"""The national language tables of GSM-7 (3GPP TS 23.038 Annex A), by national language identifier (§6.2.1.2.4).

1 Turkish, 2 Spanish, 3 Portuguese, 4 Bengali, 5 Gujarati, 6 Hindi, 7 Kannada, 8 Malayalam, 9 Oriya, 10 Punjabi,
11 Tamil, 12 Telugu, 13 Urdu. A locking shift table replaces the default alphabet, a single shift table its extension.

The tables of India's scripts, 4 to 12, have the same places: Unicode orders these scripts alike. Hindi fills them all.
A misprint of the standard is mended here, as handsets do: in Kannada, 0x24 is \u0ca1, and not \u0caa as 0x3D is.
"""

from typing import Final

_TURKISH = (
    "@£$¥€éùıòÇ\nĞğ\rÅå"
    "Δ_ΦΓΛΩΠΨΣΘΞ\x1bŞşßÉ"
    " !\"#¤%&'()*+,-./"
    "0123456789:;<=>?"
    "İABCDEFGHIJKLMNO"
    "PQRSTUVWXYZÄÖÑÜ§"
    "çabcdefghijklmno"
    "pqrstuvwxyzäöñüà"
)
_PORTUGUESE = (
    "@£$¥êéúíóç\nÔô\rÁá"
    "Δ_ªÇÀ∞^\\€Ó|\x1bÂâÊÉ"
    " !\"#º%&'()*+,-./"
    "0123456789:;<=>?"
    "ÍABCDEFGHIJKLMNO"
    "PQRSTUVWXYZÃÕÚÜ§"
    "~abcdefghijklmno"
    "pqrstuvwxyzãõ`üà"
)
_HINDI = (
    "\u0901\u0902\u0903\u0905\u0906\u0907\u0908\u0909\u090a\u090b\n\u090c\u090d\r\u090e\u090f"
    "\u0910\u0911\u0912\u0913\u0914\u0915\u0916\u0917\u0918\u0919\u091a\x1b\u091b\u091c\u091d\u091e"
    " !\u091f\u0920\u0921\u0922\u0923\u0924)(\u0925\u0926,\u0927.\u0928"
    "0123456789:;\u0929\u092a\u092b?"
    "\u092c\u092d\u092e\u092f\u0930\u0931\u0932\u0933\u0934\u0935\u0936\u0937\u0938\u0939\u093c\u093d"
    "\u093e\u093f\u0940\u0941\u0942\u0943\u0944\u0945\u0946\u0947\u0948\u0949\u094a\u094b\u094c\u094d"
    "\u0950abcdefghijklmnopqrstuvwxyz\u0972\u097b\u097c\u097e\u097f"
)
_URDU = (
    "\u0627\u0622\u0628\u067b\u0680\u067e\u06a6\u062a\u06c2\u067f\n\u0679\u067d\r\u067a\u067c"
    "\u062b\u062c\u0681\u0684\u0683\u0685\u0686\u0687\u062d\u062e\u062f\x1b\u068c\u0688\u0689\u068a"
    " !\u068f\u068d\u0630\u0631\u0691\u0693)(\u0699\u0632,\u0696.\u0698"
    "0123456789:;\u069a\u0633\u0634?"
    "\u0635\u0636\u0637\u0638\u0639\u0641\u0642\u06a9\u06aa\u06ab\u06af\u06b3\u06b1\u0644\u0645\u0646"
    "\u06ba\u06bb\u06bc\u0648\u06c4\u06d5\u06c1\u06be\u0621\u06cc\u06d0\u06d2\u064d\u0650\u064f\u0657"
    "\u0654abcdefghijklmnopqrstuvwxyz\u0655\u0651\u0653\u0656\u0670"
)
_OWN_PLACES: Final = (0x60, 0x7B, 0x7C, 0x7D, 0x7E, 0x7F)
"""Codes of the letters that each script of India has for itself."""


def _like_hindi(own: str, empty: str) -> str:
    """A locking shift table: its letters at _OWN_PLACES, of which the first shows the block, and its empty codes."""
    offset = (ord(own[0]) & ~0x7F) - 0x900
    table = [chr(ord(each) + offset) if each >= "\u0900" else each for each in _HINDI]
    for code in bytes.fromhex(empty):
        table[code] = " "
    for code, letter in zip(_OWN_PLACES, own, strict=True):
        table[code] = letter
    return "".join(table)


LOCKING_SHIFT: Final = {
    1: _TURKISH,
    3: _PORTUGUESE,
    4: _like_hindi("\u09ce\u09d7\u09dc\u09dd\u09f0\u09f1", "0c 0e 11 12 3c 45 47 48 49 57 58 5b 5c"),
    5: _like_hindi("\u0ad0\u0ae0\u0ae1\u0ae2\u0ae3\u0af1", "0e 12 3c 45 48 58 5c"),
    6: _HINDI,
    7: _like_hindi("\u0cd5\u0cd6\u0ce0\u0ce1\u0ce2\u0ce3", "00 0c 11 3c 48 57 5b"),
    8: _like_hindi("\u0d57\u0d60\u0d61\u0d62\u0d63\u0d79", "00 0c 11 3c 4e 57 5b"),
    9: _like_hindi("\u0b56\u0b57\u0b60\u0b61\u0b62\u0b63", "0c 0e 11 12 3c 45 48 57 58 5b 5c"),
    10: _like_hindi("\u0a51\u0a70\u0a71\u0a72\u0a73\u0a74", "09 0b 0c 0e 11 12 3c 45 48 4b 4f 55 56 57 58 5b 5c"),
    11: _like_hindi(
        "\u0bd0\u0bd7\u0bf0\u0bf1\u0bf2\u0bf9",
        "00 09 0b 0c 11 16 17 18 1c 1e 23 24 25 2a 2b 2d 3e 40 41 4e 4f 55 56 57 5b",
    ),
    12: _like_hindi("\u0c55\u0c56\u0c60\u0c61\u0c62\u0c63", "0c 11 3c 48 4e 57 5b"),
    13: _URDU,
}
"""Tables of 128 characters. Each code that the standard leaves empty is a space."""

_EXTENSION: Final = dict(zip(b"\x0a\x14()/<=>@e", "\f^{}\\[~]|€", strict=True))
"""The extension of the default alphabet, which is in each single shift table too."""
_PUNCTUATION: Final = dict(enumerate("@£$¥¿\"¤%&'\f*+\r-/<=>¡^¡_#*"))
_CAPITALS: Final = {ord(letter): letter for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}
_LETTERS_FROM: Final = [code for code in range(0x19, 0x40) if code not in {0x1B, *_EXTENSION}]


def _european(codes: bytes, letters: str) -> dict[int, str]:
    """A single shift table with these letters at these codes."""
    return _EXTENSION | dict(zip(codes, letters, strict=True))


def _asian(letters: str) -> dict[int, str]:
    """A single shift table with these letters at the free codes from 0x19 on; a space is an empty code."""
    own = {code: letter for code, letter in zip(_LETTERS_FROM, letters, strict=False) if letter != " "}
    return _PUNCTUATION | own | _EXTENSION | _CAPITALS


SINGLE_SHIFT: Final = {
    1: _european(b"GIScgis", "ĞİŞçğış"),
    2: _european(b"\x09AIOUaiou", "çÁÍÓÚáíóú"),
    3: _european(
        b"\x05\x09\x0b\x0c\x0e\x0f\x12\x13\x15\x16\x17\x18\x19\x1fAIOU[\\aiou{|\x7f",
        "êçÔôÁáΦΓΩΠΨΣΘÊÀÍÓÚÃÕÂíóúãõâ",
    ),
    4: _asian(
        "\u09e6\u09e7\u09e8\u09e9\u09ea\u09eb\u09ec\u09ed\u09ee\u09ef\u09df\u09e0\u09e1\u09e2"
        "\u09e3\u09f2\u09f3\u09f4\u09f5\u09f6\u09f7\u09f8\u09f9\u09fa"
    ),
    5: _asian("\u0964\u0965\u0ae6\u0ae7\u0ae8\u0ae9\u0aea\u0aeb\u0aec\u0aed\u0aee\u0aef"),
    6: _asian(
        "\u0964\u0965\u0966\u0967\u0968\u0969\u096a\u096b\u096c\u096d\u096e\u096f\u0951\u0952\u0953\u0954"
        "\u0958\u0959\u095a\u095b\u095c\u095d\u095e\u095f\u0960\u0961\u0962\u0963\u0970\u0971"
    ),
    7: _asian("\u0964\u0965\u0ce6\u0ce7\u0ce8\u0ce9\u0cea\u0ceb\u0cec\u0ced\u0cee\u0cef\u0cde\u0cf1\u0cf2"),
    8: _asian(
        "\u0964\u0965\u0d66\u0d67\u0d68\u0d69\u0d6a\u0d6b\u0d6c\u0d6d\u0d6e\u0d6f\u0d70\u0d71"
        "\u0d72\u0d73\u0d74\u0d75\u0d7a\u0d7b\u0d7c\u0d7d\u0d7e\u0d7f"
    ),
    9: _asian("\u0964\u0965\u0b66\u0b67\u0b68\u0b69\u0b6a\u0b6b\u0b6c\u0b6d\u0b6e\u0b6f\u0b5c\u0b5d\u0b5f\u0b70\u0b71"),
    10: _asian(
        "\u0964\u0965\u0a66\u0a67\u0a68\u0a69\u0a6a\u0a6b\u0a6c\u0a6d\u0a6e\u0a6f\u0a59\u0a5a\u0a5b\u0a5c\u0a5e\u0a75"
    ),
    11: _asian(
        "\u0964\u0965\u0be6\u0be7\u0be8\u0be9\u0bea\u0beb\u0bec\u0bed\u0bee\u0bef\u0bf3\u0bf4"
        "\u0bf5\u0bf6\u0bf7\u0bf8\u0bfa"
    ),
    12: _asian(
        "  \u0c66\u0c67\u0c68\u0c69\u0c6a\u0c6b\u0c6c\u0c6d\u0c6e\u0c6f\u0c58\u0c59"
        "\u0c78\u0c79\u0c7a\u0c7b\u0c7c\u0c7d\u0c7e\u0c7f"
    ),
    13: _asian(
        "\u0600\u0601\u06f0\u06f1\u06f2\u06f3\u06f4\u06f5\u06f6\u06f7\u06f8\u06f9\u060c\u060d\u060e\u060f"
        "\u0610\u0611\u0612\u0613\u0614\u061b\u061f\u0640\u0652\u0658\u066b\u066c\u0672\u0673\u06cd\u06d4"
    ),
}
"""Characters by the code after an escape. Other codes keep the meaning that they have without one."""
