"""Charsets of files by name, and whether a file that is not UTF-8 is certainly Windows-1252."""

import encodings
import pkgutil
import re
from encodings.aliases import aliases
from importlib import import_module
from typing import Final

USUAL_CHARSETS: Final = (
    "utf-8", "utf-16", "windows-1252", "windows-1250", "windows-1251", "windows-1253", "windows-1254", "windows-1255",
    "windows-1256", "windows-1257", "windows-1258", "iso-8859-2", "iso-8859-15", "koi8-r", "macintosh", "ibm850",
)  # fmt: skip
_UNICODE: Final = {
    "utf_8": "utf-8-sig", "utf_8_sig": "utf-8-sig", "ascii": "utf-8-sig", "utf_16": "utf-16", "utf_16_le": "utf-16-le",
    "utf_16_be": "utf-16-be", "latin_1": "cp1252",
}  # fmt: skip
"""Codecs for others. Latin-1 is Windows-1252, as in browsers (WHATWG Encoding §4.2): its control characters are never
meant."""
_MODULES: Final = frozenset(module.name for module in pkgutil.iter_modules(encodings.__path__))
_NOT_WESTERN = re.compile(
    r"[\xc0-\xff]{3}"  # a word of another alphabet: Èìÿ
    r"|[ðþýÐÞÝ]|[ìù](?=[a-zà-ÿ])|[øèêæù][ìíèéýáøùàú]"  # Turkish, Czech: Jiøí, Nìmec
    r"|[^\W\d_][¹³¿£¥¯¦¶¼¾±®©¤¢§†‡‰…‹›™•„‚“”ƒˆ˜](?=[^\W\d_])|[¹³¿£¥¯](?=[a-zà-ÿ])"  # Polish: Wa³êsa; DOS, Macintosh
    r"|[a-zà-ÿ][ŠŽŸŒ]|[ŠŽŸŒ](?=[b-df-hj-np-tv-z])"
)


def encoding_named(charset: str) -> str | None:
    """The codec of a charset by any of its names: Unicode, or one byte for each character. None if there is none.

    >>> encoding_named("UTF8"), encoding_named("windows-1251"), encoding_named("utf-7"), encoding_named("x")
    ('utf-8-sig', 'cp1251', None, None)
    """
    name = encodings.normalize_encoding(charset.strip().lower()) if charset.isascii() else ""
    module = aliases.get(name, name)
    if module in _UNICODE:
        return _UNICODE[module]
    is_known = module in _MODULES and module not in ("aliases", "undefined")
    return module if is_known and hasattr(import_module(f"encodings.{module}"), "decoding_table") else None


def is_western(text: str) -> bool:
    """Whether text that was read as Windows-1252 looks like it, and not like another charset of one byte."""
    return _NOT_WESTERN.search(text) is None
