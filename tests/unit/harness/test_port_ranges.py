import subprocess
import sys
from pathlib import Path

from tests.harness.port_ranges import take_range

HOLD = "import sys; from pathlib import Path; from tests.harness.port_ranges import take_range as take; \
print(take(Path(sys.argv[1])), flush=True); sys.stdin.read()"


def test_processes_have_different_ports_and_a_freed_range_is_used_again(tmp_path: Path) -> None:
    own = take_range(tmp_path)
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        theirs = other.stdout.readline().strip()
        assert theirs.startswith("range(") and theirs != str(own)
        assert str(take_range(tmp_path)) not in (theirs, str(own))
        other.communicate("")
    assert str(take_range(tmp_path)) == theirs
