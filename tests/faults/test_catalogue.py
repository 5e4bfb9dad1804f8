"""The catalogue and its tests agree."""

import re
from pathlib import Path

from tests.faults.catalogue import DO_NOT_APPLY, FAULTS, SHORT


def test_every_fault_has_a_test_or_a_reason() -> None:
    tests = "".join(path.read_text() for path in Path(__file__).parent.glob("test_*.py"))
    tested = {name.upper() for name in re.findall(r"^def test_([fs]\d\d)_", tests, re.MULTILINE)}
    assert tested == set(FAULTS) - set(DO_NOT_APPLY)
    assert set(SHORT) <= tested
