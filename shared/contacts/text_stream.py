"""Decodes a stream of bytes into chunks of whole lines: UTF-8, UTF-16 with a byte order mark, or a given encoding."""

import codecs
import io
from collections.abc import Iterable, Iterator
from typing import Final

__all__ = [
    "MAX_LINE_LENGTH",
    "SUBSTITUTE",
    "LineTooLong",
    "NotText",
    "WrongEncoding",
    "encoding_named",
    "text_chunks",
]

CHUNK_CHARACTERS: Final = 128 * 1024
"""Usual size of a chunk in characters."""
MAX_LINE_LENGTH: Final = 256 * 1024
SUBSTITUTE: Final = "\x1a"
"""Replaces NUL, which Postgres cannot store (the control character SUBSTITUTE, ECMA-48 §8.3.148)."""
BYTE_ORDER_MARKS: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
BINARY_SIGNATURES: Final = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0", b"%PDF", b"\x1f\x8b")
"""First bytes of spreadsheet files, PDFs and compressed files."""
ENCODINGS: Final = {
    "utf-8": "utf-8-sig",
    "us-ascii": "utf-8-sig",
    "windows-1252": "cp1252",
    "iso-8859-1": "cp1252",  # as in browsers (WHATWG Encoding §4.2): the differing control characters are never meant
}
"""Codec by accepted charset name."""


class NotText(Exception):
    """The stream is a binary file."""


class LineTooLong(Exception):
    """A line is longer than MAX_LINE_LENGTH. The message says which, and what to do."""


class WrongEncoding(Exception):
    """A byte is invalid in the encoding. The message says where, and what to do."""


def encoding_named(charset: str) -> str | None:
    """The codec of an HTTP charset, for `text_chunks`; None if it is not supported."""
    return ENCODINGS.get(charset.lower())


def text_chunks(stream: Iterable[bytes], encoding: str | None = None) -> Iterator[str]:
    """Yield the text of the stream in chunks of whole lines; only the last may lack a final line feed.

    NUL becomes SUBSTITUTE, and every line end a line feed. Holds one chunk in memory. Raises NotText, LineTooLong or
    WrongEncoding: decoding is strict, because a wrong encoding would change the text.
    """
    decoder: io.IncrementalNewlineDecoder | None = None
    head, text, lines = b"", "", 0
    for block in stream:
        if decoder is None:
            head += block
            if len(head) < 4:
                continue
            decoder, block = _decoder(head, encoding), head
        text += _decode(decoder, block, False, lines + text.count("\n"))
        if len(text) >= CHUNK_CHARACTERS:
            complete, line_feed, text = text.rpartition("\n")
            if line_feed:
                lines += complete.count("\n") + 1
                yield complete + line_feed
            elif len(text) > MAX_LINE_LENGTH:
                raise LineTooLong(
                    f"Line {lines + 1:,} has more than {MAX_LINE_LENGTH:,} characters. Write each phone number and its"
                    " fields on a line of their own, with a line break after each; or export the file again, as CSV."
                )
    if decoder is None:
        decoder, text = _decoder(head, encoding), ""
        text += _decode(decoder, head, True, 0)
    else:
        text += _decode(decoder, b"", True, lines + text.count("\n"))
    if text:
        yield text


def _decoder(head: bytes, encoding: str | None) -> io.IncrementalNewlineDecoder:
    if head.startswith(BINARY_SIGNATURES):
        raise NotText
    name = "utf-16" if head.startswith(BYTE_ORDER_MARKS) else encoding or "utf-8-sig"
    return io.IncrementalNewlineDecoder(codecs.getincrementaldecoder(name)("strict"), translate=True)


def _decode(decoder: io.IncrementalNewlineDecoder, block: bytes, final: bool, lines: int) -> str:
    """Decode a block; `lines` is the number of lines before it."""
    try:
        return decoder.decode(block, final).replace("\0", SUBSTITUTE)
    except UnicodeDecodeError as error:
        line = lines + error.object[: error.start].count(b"\n") + 1
        problem = f"Line {line:,} has the byte 0x{error.object[error.start]:02X}, which is not {_name(error.encoding)}"
        raise WrongEncoding(
            f"{problem}. Save the file as CSV in UTF-8, or give its encoding: `text/csv; charset=windows-1252`."
        ) from None


def _name(codec: str) -> str:
    return {"charmap": "Windows-1252", "utf-8": "UTF-8"}.get(codec, codec.upper())
