"""The catalogue and its tests agree; the summary tells what was not run."""

import re
from pathlib import Path

from tests.faults.catalogue import DO_NOT_APPLY, FAULTS, SHORT, Survived, summary


def test_every_fault_has_a_test_or_a_reason() -> None:
    tests = "".join(path.read_text() for path in Path(__file__).parent.glob("test_*.py"))
    tested = {name.upper() for name in re.findall(r"^def test_([fs]\d\d)_", tests, re.MULTILINE)}
    assert tested == set(FAULTS) - set(DO_NOT_APPLY)
    assert set(SHORT) <= tested


def test_a_fault_that_was_not_run_does_not_count_as_survived() -> None:
    survived = {"F01": Survived("F01", 2.0, 7), "F02": Survived("F02", 4.0, 3, 1)}
    outcomes = {"F01": ("passed", ""), "F02": ("failed", ""), "F35": ("not run", "no right to mount")}
    *lines, total = summary(outcomes, survived)
    assert len(lines) == len(FAULTS)
    assert lines[0].startswith("F01  passed     2.0 s     7 in doubt  0 twice")
    assert "not run" in next(line for line in lines if line.startswith("F35")) and "no right to mount" in "".join(lines)
    assert "there is no SQLite" in next(line for line in lines if line.startswith("F34"))
    assert total == (
        f"survived 1 of {len(FAULTS) - 1} faults that apply; worst recovery 4.0 s, most in doubt 7, duplicates 1"
    )
