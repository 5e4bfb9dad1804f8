"""docs/explanation/security.md names tests that exist, for the whole checklist and all bad inputs."""

import ast
import re
from pathlib import Path

PAGE = Path("docs/explanation/security.md").read_text()
ROWS = re.findall(r"^\| (S\d+) \| (.+?) \| (?:`(.+?)` )?\|$", PAGE, re.M | re.ASCII)


def test_it_works() -> None:
    assert [row[0] for row in ROWS] == [f"S{number}" for number in range(1, len(ROWS) + 1)]
    assert len(ROWS) >= 44
    assert [identifier for identifier, _, test in ROWS if not test] == []


def test_every_named_test_exists() -> None:
    for test in sorted({row[2] for row in ROWS if row[2]}):
        file, _, function = test.partition("::")
        module = ast.parse(Path(file).read_text())
        functions = {node.name for node in module.body if isinstance(node, ast.FunctionDef)}
        assert function in functions if function else any(name.startswith("test_") for name in functions), test


def test_the_threat_model_names_rows_of_the_checklist() -> None:
    model, _, _ = PAGE.partition("## Checklist")
    assert set(re.findall(r"\bS\d{1,2}\b", model)) <= {row[0] for row in ROWS}
    for attacker in ("Stranger", "Customer with a test key", "Customer", "Webhook receiver", "Carrier"):
        assert f"| **{attacker}**" in model
    for attacker in ("Reader of the database", "Writer of Redis"):
        assert f"| **{attacker}**" in model
