"""Decodes a stream of bytes into chunks of whole lines: UTF-8, UTF-16 with a byte order mark, or a given encoding."""

import codecs
import io
from collections.abc import Iterable, Iterator
from typing import Final

CHUNK_CHARACTERS: Final = 128 * 1024
"""Usual size of a chunk in characters."""
MAX_LINE_LENGTH: Final = 256 * 1024
SUBSTITUTE: Final = "\x1a"
"""Replaces NUL, which Postgres cannot store (the control character SUBSTITUTE, ECMA-48 §8.3.148)."""
REPLACEMENT: Final = "\ufffd"
"""The replacement character, which programs write for characters that they could not decode."""
BYTE_ORDER_MARKS: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
BINARY_SIGNATURES: Final = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0", b"%PDF", b"\x1f\x8b")
"""First bytes of spreadsheet files, PDFs and compressed files."""
HEAD_BYTES: Final = 32
"""By which the kind of a file is recognized."""
NAMES: Final = {"cp1252": "Windows-1252", "utf-8": "UTF-8"}
VCARD: Final = "BEGIN:VCARD"
NOT_CSV: Final = "This is a binary file (xlsx, pdf, zip …), not CSV. Save it as CSV in UTF-8."
IS_VCARD: Final = (
    "This is a vCard file, not CSV. Export the contacts as CSV: Google Contacts, Outlook and most phones can, and they"
    " import the vCards of those that cannot, such as iCloud."
)


class NotText(Exception):
    """The stream is a binary file or a vCard. The message says what to do."""


class LineTooLong(Exception):
    """A line is longer than MAX_LINE_LENGTH. The message says which, and what to do."""


class WrongEncoding(Exception):
    """A byte is invalid in the encoding. The message says where, and what to do."""


def text_chunks(stream: Iterable[bytes], encoding: str | None = None) -> Iterator[str]:
    """Yield the text of the stream in chunks of whole lines; only the last may lack a final line feed.

    `encoding` is a codec of `encoding_named`.

    NUL becomes SUBSTITUTE, and every line end a line feed. Holds one chunk in memory. Raises NotText, LineTooLong or
    WrongEncoding: decoding is strict, because a wrong encoding would change the text.
    """
    decoder: io.IncrementalNewlineDecoder | None = None
    head, text, lines = b"", "", 0
    for block in stream:
        if decoder is None:
            head += block
            if len(head) < HEAD_BYTES:
                continue
            decoder, block = _decoder(head, encoding), head
        text += _decode(decoder, block, False, lines + text.count("\n"), encoding)
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
        text = _decode(_decoder(head, encoding), head, True, 0, encoding)
    else:
        text += _decode(decoder, b"", True, lines + text.count("\n"), encoding)
    if text:
        yield text


def _decoder(head: bytes, encoding: str | None) -> io.IncrementalNewlineDecoder:
    if head.startswith(BINARY_SIGNATURES):
        raise NotText(NOT_CSV)
    name = encoding or "utf-8-sig"
    if head.startswith(BYTE_ORDER_MARKS):
        name = "utf-16"
    elif encoding is None and head[:4].count(0) == 2 and head[0] != head[1]:  # without a byte order mark
        name = "utf-16-be" if head[0] == 0 else "utf-16-le"
    if head.decode(name, "ignore").lstrip().upper().startswith(VCARD):
        raise NotText(IS_VCARD)
    return io.IncrementalNewlineDecoder(codecs.getincrementaldecoder(name)("strict"), translate=True)


def _decode(decoder: io.IncrementalNewlineDecoder, block: bytes, final: bool, lines: int, encoding: str | None) -> str:
    """Decode a block; `lines` is the number of lines before it."""
    try:
        return decoder.decode(block, final).replace("\0", SUBSTITUTE)
    except UnicodeDecodeError as error:
        line = lines + error.object[: error.start].count(b"\n") + 1
        name = NAMES.get(error.encoding) or NAMES.get(encoding or "", (encoding or error.encoding).upper())
        problem = f"Line {line:,} has the byte 0x{error.object[error.start]:02X}, which is not {name}"
        raise WrongEncoding(
            f"{problem}. Save the file as CSV in UTF-8, or give its encoding: `text/csv; charset=windows-1252`."
        ) from None
