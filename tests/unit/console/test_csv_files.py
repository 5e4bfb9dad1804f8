"""The encoding of an uploaded file."""

import io

import pytest

from console.pages.csv_files import CHUNK_BYTES, WINDOWS_1252, content_type_of


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"", "text/csv"),
        (b"phone\n", "text/csv"),
        ("Zoë".encode(), "text/csv"),
        ("Zoë".encode("utf-16"), "text/csv"),
        ("Zoë".encode("cp1252"), WINDOWS_1252),
        (("x" * (CHUNK_BYTES - 1) + "ë").encode(), "text/csv"),
        (("x" * CHUNK_BYTES + "ë").encode("cp1252"), WINDOWS_1252),
    ],
)
def test_it_works(content: bytes, kind: str) -> None:
    file = io.BytesIO(content)
    assert content_type_of(file) == kind
    assert file.read() == content
