"""`make pictures` takes those pictures that the documentation shows, each of a page with something on it."""

import re
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from tests.browser.pictures import PICTURES

pytestmark = pytest.mark.browser

GUIDE = PICTURES.parent / "console.md"
SECONDS = 300
LEAST_BYTES = 20_000
"""An empty page takes less."""


def width_of(picture: bytes) -> int:
    """The width in the header of a PNG file, in pixels."""
    signature, width = struct.unpack_from(">8s8xI", picture)
    assert signature == b"\x89PNG\r\n\x1a\n"
    return int(width)


def test_it_works(tmp_path: Path) -> None:
    taking = [sys.executable, "-m", "tests.browser.pictures", str(tmp_path)]
    subprocess.run(taking, check=True, timeout=SECONDS)  # Playwright runs an event loop, of which a thread has one
    taken = {each.name: each.read_bytes() for each in tmp_path.iterdir()}
    shown = set(re.findall(r"\(pictures/([\w-]+\.png)\)", GUIDE.read_text()))
    assert shown == taken.keys() == {each.name for each in PICTURES.iterdir()}
    assert {name: width_of(picture) for name, picture in taken.items()} == {
        name: 390 if name == "phone.png" else 1280 for name in shown
    }
    assert min(map(len, taken.values())) > LEAST_BYTES
