"""Decodes a text in the charset that it is said to be in or, if that is clearly wrong, in the one that its octets show.

A charset is named `gsm7`, `latin1`, `ascii`, `ucs2`, `binary`, or as in _CODECS. `gsm7/1/3` is GSM-7 with the single
shift table of language 1 and the locking shift table of language 3.
"""

from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator

from shared.sms import gsm7
from shared.sms.likely_charset import as_ascii, as_east_asian, as_utf8, as_utf16, has_controls, swapped

_CODECS = {
    "cyrillic": ("iso8859-5",),
    "hebrew": ("iso8859-8",),
    "jis": ("iso2022_jp_ext", "cp932", "euc_jp"),
    "extended-kanji": ("iso2022_jp_ext", "euc_jp", "cp932"),
    "korean": ("cp949",),
}
"""Python's codecs of a charset, the likelier first: Japanese carriers use three encodings of JIS."""


def decode(octets: bytes, charset: str) -> str:
    """Decode a text as well as possible. Never raises. What is no text at all is read as Latin-1."""
    name, *shifts = charset.split("/")
    if name == "binary":
        return octets.decode("latin-1")
    if name == "ucs2" or octets.startswith((BOM_UTF16_BE, BOM_UTF16_LE)):
        return _ucs2(octets)
    utf16 = as_utf16(octets) if not shifts else None
    if utf16 is not None:
        return utf16
    if name == "gsm7" and octets.isascii():
        return gsm7.decode(octets, *map(int, shifts))
    readings = [*_readings(octets, name)]
    for reading in readings:
        if not has_controls(reading):
            return reading
    latin1 = octets.decode("latin-1")
    likely = as_utf8(octets)
    if likely is None and has_controls(latin1):
        likely = as_east_asian(octets)
    return likely if likely is not None else (*readings, latin1)[0]


def _readings(octets: bytes, name: str) -> Iterator[str]:
    """The text in each codec of the charset that can decode it."""
    for codec in _CODECS.get(name, ()):
        try:
            yield octets.decode(codec)
        except UnicodeDecodeError:
            continue


def _ucs2(octets: bytes) -> str:
    """UCS-2, which is UTF-16 in network byte order. An octet too many is ignored."""
    whole = octets[: len(octets) & ~1]
    if whole.startswith((BOM_UTF16_BE, BOM_UTF16_LE)):
        return whole.decode("utf-16", "replace")
    text = whole.decode("utf-16-be", "replace")
    for other in (as_ascii(octets, text), as_utf8(octets, text), swapped(whole)):
        if other is not None:
            return other
    return text
