r"""Finds the charset that the octets of a text show, where carriers name a wrong one. Each rule is conservative.

- UTF-16 although another charset is named: at least half of the first octets of the characters are below 0x20, and the
  text is readable and of one script beside Latin. In GSM-7, every other character would be @, or the same accented
  letter or Greek capital, which nobody writes. One character is not enough: somebody may write @ and a letter.
- UTF-16 in the wrong byte order: at least three characters, and all second octets are 0x00.
- UTF-8: it is valid and goes beyond ASCII, by more than a capital and a sign that end a word in Latin-1. If its end is
  cut off, it has control characters in Latin-1. If UCS-2 is named, the text is of no language as UCS-2, or has an odd
  number of octets.
- ASCII although UCS-2 is named: it is printable and has a word, and as UCS-2 the text is of no language, has an odd
  number of octets, or is not simplified Chinese while the ASCII is nothing but words and numbers. So STOP and Stop are
  ASCII, although each could be two Chinese characters, and \u505c\u6b62 and \u6570\u636e are Chinese.
- Chinese, Japanese, Korean or emoji in UTF-16 although another charset is named: the text has control characters in
  Latin-1, and as UTF-16 all of it is in the character set of one country.

A text is of a language if all of it is in the character set of one country of East Asia, or all its letters are of one
other script. Unicode's names of characters begin with their script.
"""

import codecs
import re
import unicodedata

_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_C1 = re.compile(rb"[\x80-\x9f]")
_LATIN1_WORDS = re.compile(rb"(?:[\x00-\x7f]|[\xc4-\xdf][\xa0\xa1\xa9-\xab\xae\xb0\xb2-\xb4\xba\xbb\xbf])*+")
"""In Latin-1, words that end in a capital and a sign, such as a no-break space, a quotation mark or a degree sign."""
_PRINTABLE = re.compile(rb"[\t\n\r -~]+")
_WORD = re.compile(r"[A-Za-z]{2}")
_WORDS = re.compile(r"[\W_]*+(?:(?:[A-Z]++|[A-Z]?[a-z]++|[0-9]++)(?:[\W_]++|$))+", re.A)
_LATIN_EXTENDED = re.compile("[\u0100-\u024f]")
_CHINESE = "gb2312"
_EAST_ASIAN = (_CHINESE, "big5", "shift_jis", "euc_kr")
"""The character sets of China, Taiwan, Japan and Korea: the characters in use, a third of those that have a code."""
_SCRIPTS = {"CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "HANGUL", "HALFWIDTH", "FULLWIDTH", "BOPOMOFO"}
"""What the names of East Asian letters begin with. Their scripts are mixed."""
_UNTELLING = frozenset((*range(0x10), *b" !,.?"))
"""Second octets that follow a letter in a GSM-7 text: other accented letters, spaces and punctuation."""
_LINE_ENDS = {0x0A, 0x0D}


def has_controls(text: str) -> bool:
    """Whether the text has characters that no person writes."""
    return _CONTROL.search(text) is not None


def as_utf16(octets: bytes) -> str | None:
    """The text if it shows UTF-16, in either byte order; None otherwise."""
    if len(octets) % 2 and octets.endswith(b"\0"):
        octets = octets[:-1]
    first = octets[0::2]
    if len(octets) < 4 or len(octets) % 2 or sum(octet < 0x20 for octet in first) * 2 < len(first):
        return swapped(octets)
    text = _decoded(octets, "utf-16-be").rstrip("\0")
    if not _is_readable(text) or not any(map(str.isalnum, text)):
        return swapped(octets)
    others = [each for each in text if unicodedata.category(each)[0] in "LMN" and not _is_latin(each)]
    if not others or _scripts(others) == {"CJK"}:
        return text if first.count(0) >= max(len(first) / 2, 3 if others else 2) else None
    letters = {each for each in others if each.isalpha()}
    tells = any(_tells(ord(each), is_long=len(others) > 3) for each in letters) and not _LATIN_EXTENDED.search(text)
    return text if tells and len(letters) > 1 and len(_scripts(others)) == 1 else None


def swapped(octets: bytes) -> str | None:
    """The text if it shows UTF-16 with the octets of each character swapped; None otherwise."""
    if len(octets) < 6 or len(octets) % 2 or any(octets[1::2]) or len(set(octets)) < 3:
        return None
    text = _decoded(octets, "utf-16-le").rstrip("\0")
    return text if _is_readable(text) and any(map(str.isalnum, text)) else None


def as_utf8(octets: bytes, ucs2: str | None = None) -> str | None:
    """The text if it shows UTF-8, whose last character may be cut off; None otherwise. `ucs2`: as UCS-2, if named."""
    try:
        text, read = codecs.utf_8_decode(octets, "strict", False)
    except UnicodeDecodeError:
        return None
    if text.isascii() or not _is_readable(text):
        return None
    if _LATIN1_WORDS.fullmatch(octets) or (read < len(octets) and not _C1.search(octets)):
        return None
    if ucs2 is not None and len(octets) % 2 == 0 and _is_language(ucs2):
        return None
    return text if read == len(octets) else text + "\ufffd"


def as_ascii(octets: bytes, ucs2: str) -> str | None:
    """The text if it shows ASCII although UCS-2 is named, as which it is `ucs2`; None otherwise."""
    if not _PRINTABLE.fullmatch(octets):
        return None
    text = octets.decode("ascii")
    if _WORD.search(text) is None:
        return None
    only_words = len(ucs2) > 1 and _WORDS.fullmatch(text) is not None and not _is_in(ucs2, _CHINESE)
    return text if len(octets) % 2 or only_words or not _is_language(ucs2) else None


def as_east_asian(octets: bytes) -> str | None:
    """The text if it is Chinese, Japanese, Korean or emoji as UTF-16; None otherwise."""
    text = _decoded(octets, "utf-16-be") if len(octets) % 2 == 0 else ""
    return text if text and _is_readable(text) and any(_is_in(text, each) for each in _EAST_ASIAN) else None


def _decoded(octets: bytes, codec: str) -> str:
    """The text; empty if it cannot be decoded."""
    try:
        return octets.decode(codec)
    except UnicodeDecodeError:
        return ""


def _is_readable(text: str) -> bool:
    """Whether all characters are assigned, and neither controls nor for private use."""
    return all(each in "\t\n\r" or unicodedata.category(each) not in {"Cc", "Cn", "Co", "Cs"} for each in text)


def _is_latin(letter: str) -> bool:
    return letter < "\u0250" or "\u1e00" <= letter <= "\u1eff"


def _tells(code: int, *, is_long: bool) -> bool:
    """Whether somebody is likelier to write this letter than the two characters that its octets are in GSM-7."""
    first, second = divmod(code, 0x100)
    is_digit, is_greek = 0x30 <= second <= 0x39, 0x10 <= first < 0x20 and second < (0x20 if first < 0x14 else 0x80)
    is_word = not is_long and 0x61 <= second < 0x80  # small letters, as in \u00e9t\u00e9s
    return not (second in _UNTELLING or is_word or is_greek or (is_digit and first in _LINE_ENDS))


def _scripts(letters: list[str]) -> set[str]:
    found = {unicodedata.name(each, "").split(" ")[0] for each in letters}
    return found - _SCRIPTS | ({"CJK"} if found & _SCRIPTS else set())


def _is_language(text: str) -> bool:
    if "\ufffd" in text or not _is_readable(text):
        return False
    if any(_is_in(text, each) for each in _EAST_ASIAN):
        return True
    scripts = _scripts([each for each in text if each.isalpha()])
    return len(scripts) == 1 and scripts != {"CJK"}


def _is_in(text: str, character_set: str) -> bool:
    """Whether a country's character set has all of the text, emoji aside."""
    plain = "".join(each for each in text if each <= "\uffff" and each not in "\ufe0f\u200d")
    try:
        return len(plain.encode(character_set)) <= 2 * len(plain)  # euc_kr spells uncommon syllables in eight octets
    except UnicodeEncodeError:
        return False
