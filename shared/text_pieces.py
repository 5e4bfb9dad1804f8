"""A stream of bytes as pieces of text that end with a line: UTF-8, or UTF-16 where its first bytes say so."""

import codecs
import io
from collections.abc import Iterable, Iterator
from typing import Final

__all__ = ["LONGEST_LINE", "LineTooLong", "NotText", "pieces_of_text"]

PIECE: Final = 128 * 1024
"""Characters of a piece, as a rule."""
LONGEST_LINE: Final = 256 * 1024
BYTE_ORDER_MARKS: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
OF_PROGRAMS: Final = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0", b"%PDF", b"\x1f\x8b")
"""How spreadsheets' own files, PDFs and compressed files begin."""


class NotText(Exception):
    """The stream is the file of a program."""


class LineTooLong(Exception):
    """A line has no end."""


def pieces_of_text(stream: Iterable[bytes]) -> Iterator[str]:
    """The text of the stream in pieces of whole lines that end with a line feed, but for the last of them.

    What is not in its encoding, and NUL, becomes U+FFFD; every end of a line becomes a line feed. The memory is that of
    a piece. Raises NotText or LineTooLong.
    """
    decoder: io.IncrementalNewlineDecoder | None = None
    head, text = b"", ""
    for block in stream:
        if decoder is None:
            head += block
            if len(head) < 4:
                continue
            decoder, block = _decoder(head), head
        text += decoder.decode(block).replace("\0", "\ufffd")
        if len(text) >= PIECE:
            whole, feed, text = text.rpartition("\n")
            if feed:
                yield whole + feed
            elif len(text) > LONGEST_LINE:
                raise LineTooLong
    if decoder is None:
        decoder, text = _decoder(head), ""
        text += decoder.decode(head, True).replace("\0", "\ufffd")
    else:
        text += decoder.decode(b"", True).replace("\0", "\ufffd")
    if text:
        yield text


def _decoder(head: bytes) -> io.IncrementalNewlineDecoder:
    if head.startswith(OF_PROGRAMS):
        raise NotText
    name = "utf-16" if head.startswith(BYTE_ORDER_MARKS) else "utf-8-sig"
    return io.IncrementalNewlineDecoder(codecs.getincrementaldecoder(name)("replace"), translate=True)
