"""The memory of large bodies is the system's again when they are freed."""

import subprocess
import sys

import pytest

BODIES, BODY = 40, 4_000_000
PROGRAM = f"""
import sys
import psutil
from api.server.memory import map_large_buffers

if sys.argv[1] == "mapped":
    map_large_buffers()
bytearray(2 * {BODY})  # the first that is freed
before = psutil.Process().memory_info().rss
bodies, kept = [], []
for number in range({BODIES}):
    bodies.append(b"x" * ({BODY} + number))
    kept.append(bytearray(2_000))  # a small object behind each
bodies.clear()
print(psutil.Process().memory_info().rss - before)
"""


def grown(how: str) -> int:
    """By how many bytes a process is larger after its bodies were freed."""
    command = [sys.executable, "-c", PROGRAM, how]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="glibc's malloc")
def test_it_works() -> None:
    assert grown("mapped") < BODIES * BODY / 10
    assert grown("as it is") > BODIES * BODY / 2, "without it, there is nothing to mend"
