"""Decodes a stream of bytes into chunks of whole lines: UTF-8, UTF-16 with a byte order mark, or a given encoding."""

import codecs
import io
from collections.abc import Iterable, Iterator
from typing import Final

__all__ = ["LONGEST_LINE", "SUBSTITUTE", "LineTooLong", "NotText", "WrongEncoding", "encoding_named", "pieces_of_text"]

CHUNK_BYTES: Final = 128 * 1024
"""Usual number of characters of a chunk."""
LONGEST_LINE: Final = 256 * 1024
SUBSTITUTE: Final = "\x1a"
"""Replaces NUL, which Postgres cannot store (ECMA-48 §8.3.148)."""
BYTE_ORDER_MARKS: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
OF_PROGRAMS: Final = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0", b"%PDF", b"\x1f\x8b")
"""First bytes of spreadsheets, PDFs and compressed files."""
ENCODINGS: Final = {
    "utf-8": "utf-8-sig",
    "us-ascii": "utf-8-sig",
    "windows-1252": "cp1252",
    "iso-8859-1": "cp1252",  # as browsers read it (WHATWG Encoding §4.2): nobody means the controls between the two
}
"""Codecs by charset."""


class NotText(Exception):
    """The stream is not text, but the file of a program."""


class LineTooLong(Exception):
    """A line is too long."""


class WrongEncoding(Exception):
    """A byte is invalid in the encoding. The message says where, and what to do."""


def encoding_named(charset: str) -> str | None:
    """The encoding of an HTTP charset, for `pieces_of_text`; None if it is not supported."""
    return ENCODINGS.get(charset.lower())


def pieces_of_text(stream: Iterable[bytes], encoding: str | None = None) -> Iterator[str]:
    """The text of the stream in chunks of whole lines, which end with a line feed, except for the last one.

    NUL becomes SUBSTITUTE; all line ends become line feeds. Uses the memory of one chunk. Raises NotText, LineTooLong
    or WrongEncoding.
    """
    decoder: io.IncrementalNewlineDecoder | None = None
    head, text, lines = b"", "", 0
    for block in stream:
        if decoder is None:
            head += block
            if len(head) < 4:
                continue
            decoder, block = _decoder(head, encoding), head
        text += _decoded(decoder, block, False, lines + text.count("\n"))
        if len(text) >= CHUNK_BYTES:
            whole, feed, text = text.rpartition("\n")
            if feed:
                lines += whole.count("\n") + 1
                yield whole + feed
            elif len(text) > LONGEST_LINE:
                raise LineTooLong
    if decoder is None:
        decoder, text = _decoder(head, encoding), ""
        text += _decoded(decoder, head, True, 0)
    else:
        text += _decoded(decoder, b"", True, lines + text.count("\n"))
    if text:
        yield text


def _decoder(head: bytes, encoding: str | None) -> io.IncrementalNewlineDecoder:
    if head.startswith(OF_PROGRAMS):
        raise NotText
    name = "utf-16" if head.startswith(BYTE_ORDER_MARKS) else encoding or "utf-8-sig"
    return io.IncrementalNewlineDecoder(codecs.getincrementaldecoder(name)("strict"), translate=True)


def _decoded(decoder: io.IncrementalNewlineDecoder, block: bytes, final: bool, lines: int) -> str:
    """Decode a block; `lines` is the number of lines before it."""
    try:
        return decoder.decode(block, final).replace("\0", SUBSTITUTE)
    except UnicodeDecodeError as error:
        line = lines + error.object[: error.start].count(b"\n") + 1
        found = f"Line {line:,} has the byte 0x{error.object[error.start]:02X}, which is not {_name(error.encoding)}"
        raise WrongEncoding(
            f"{found}. Save the file as CSV in UTF-8, or say its encoding: `text/csv; charset=windows-1252`."
        ) from None


def _name(codec: str) -> str:
    return {"charmap": "Windows-1252", "utf-8": "UTF-8"}.get(codec, codec.upper())
