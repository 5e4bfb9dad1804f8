"""An uploaded file, read block by block: the request's body, or the one file of a form."""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import NamedTuple

from werkzeug.exceptions import RequestEntityTooLarge
from werkzeug.http import parse_options_header
from werkzeug.sansio.multipart import Data, Epilogue, Event, File, MultipartDecoder, NeedData

from api.http.receive import too_large
from api.http.request import current_request
from api.problems import Problem, invalid
from shared.contacts.charsets import USUAL_CHARSETS, encoding_named
from shared.contacts.columns import NoContacts
from shared.contacts.text_stream import IS_VCARD, LineTooLong, NotText, WrongEncoding, text_chunks

BLOCK = 64 * 1024
FORM = "multipart/form-data"
CSV_TYPES = ("text/csv", "application/csv", "text/plain")
MAX_FIELD_BYTES = 64 * 1024
"""Bytes of a form's fields, without its file."""
MAX_PARTS = 20
"""Parts of a form, including its one file."""


class UploadedFile(NamedTuple):
    """The bytes of a file, and its declared encoding."""

    blocks: Iterator[bytes]
    encoding: str | None


def check_media_type(types: tuple[str, ...], limit: int) -> None:
    """Raise Problem unless the body is declared as one of the types or a form, and as at most `limit` bytes."""
    request = current_request().http
    if request.mimetype not in (*types, FORM):
        if "vcard" in request.mimetype:
            raise Problem("unsupported_media_type", IS_VCARD)
        given = f"`{request.mimetype}`" if request.mimetype else "no Content-Type"
        detail = f"The body was sent with {given}; use text/csv, or multipart/form-data with a CSV file."
        raise Problem("unsupported_media_type", f"{detail} Save a spreadsheet as CSV in UTF-8.")
    announced = request.content_length
    if announced is not None and announced > limit:
        raise too_large(limit)


def open_file(limit: int) -> UploadedFile:
    """Open the request's file. Reading more than `limit` bytes raises Problem payload_too_large."""
    request = current_request().http
    blocks = _blocks(limit)
    if request.mimetype == FORM:
        return _file_of_form(blocks)
    return UploadedFile(blocks, _encoding(request.mimetype_params))


def chunks_of_file(file: UploadedFile) -> Iterator[str]:
    """The file's text, in the chunks of `text_chunks`. Raises Problem if the file is not lines of text."""
    try:
        yield from text_chunks(file.blocks, file.encoding)
    except NotText as binary:
        raise Problem("unsupported_media_type", str(binary)) from None
    except (LineTooLong, WrongEncoding) as wrong:
        raise not_csv(str(wrong)) from None


def not_csv(detail: str) -> Problem:
    """A `validation_failed` for the file as a whole."""
    return invalid([{"pointer": "", "code": "invalid", "detail": detail}])


def wrong_columns(problem: NoContacts) -> Problem:
    """A `validation_failed` for a file whose columns a person has to name; with the `candidates` for the phones."""
    pointer = f"/{problem.parameter}" if problem.parameter else ""
    refused = invalid([{"pointer": pointer, "code": "invalid", "detail": problem.with_values()}])
    if problem.candidates:
        names = ("column", "name", "values")
        refused.members["candidates"] = [dict(zip(names, each, strict=True)) for each in problem.candidates]
    return refused


def _blocks(limit: int) -> Iterator[bytes]:
    stream, read = current_request().http.stream, 0
    while block := stream.read(BLOCK):
        read += len(block)
        if read > limit:
            raise too_large(limit)
        yield block


def _file_of_form(blocks: Iterator[bytes]) -> UploadedFile:
    """The file of a form (RFC 7578), whatever the name of its field; other fields are ignored."""
    events = _events(blocks, current_request().http.mimetype_params.get("boundary", ""))
    for event in events:
        if isinstance(event, File):
            _, parameters = parse_options_header(event.headers.get("content-type", ""))
            return UploadedFile(_data_of_file(events), _encoding(parameters))
    raise not_csv("The form has no file. Send one, as the field `file`.")


def _data_of_file(events: Iterator[Event]) -> Iterator[bytes]:
    for event in events:
        if not isinstance(event, Data):
            break
        if event.data:
            yield bytes(event.data)
        if not event.more_data:
            break
    if any(isinstance(event, File) for event in events):
        raise not_csv("The form has more than one file. Send each file in a separate request.")


def _events(blocks: Iterable[bytes], boundary: str) -> Iterator[Event]:
    try:
        decoder = MultipartDecoder(
            boundary.encode("latin-1"), max_form_memory_size=MAX_FIELD_BYTES, max_parts=MAX_PARTS
        )
        for block in chain(blocks, (None,)):
            decoder.receive_data(block)
            while not isinstance(event := decoder.next_event(), NeedData):
                yield event
                if isinstance(event, Epilogue):
                    return
    except RequestEntityTooLarge:
        raise not_csv("The form has too many fields besides its file.") from None
    except ValueError:
        raise not_csv("The body is not valid multipart/form-data (RFC 7578).") from None


def _encoding(parameters: dict[str, str]) -> str | None:
    charset = parameters.get("charset")
    if charset is None:
        return None
    encoding = encoding_named(charset)
    if encoding is None:
        detail = f"The file is declared as {charset[:40]!r}, which is not read. Use {', '.join(USUAL_CHARSETS)}."
        raise Problem("unsupported_media_type", detail)
    return encoding
