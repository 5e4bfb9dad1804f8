"""`bulksms price`: a list from its sheet to an account."""

from functools import partial
from pathlib import Path

import pytest

from tests.services.commands.conftest import Run, as_json


@pytest.fixture
def run(run: Run) -> Run:
    return partial(run, "price")


def test_a_list_from_its_sheet_to_the_accounts(run: Run, tmp_path: Path) -> None:
    sheet = tmp_path / "prices.csv"
    made = run("create", "Standard").stdout.strip()
    assert "already" in run("create", "Standard", code=1).output
    sheet.write_text("country,price\nKE,10\nKE,11\nXX,1\n")
    refused = run("import", made, sheet, code=1).output
    assert "Line 4: 'XX'" in refused and "lines 2 and 3" in refused and "2 lines are wrong" in refused
    sheet.write_text("country,price,category\n*,90,\nKE,10,marketing\n")
    draft = as_json(run("import", made, sheet, "--json"))
    version = draft["id"]
    assert (draft["prices"], draft["counts"]) == (2, {"added": 2})
    assert run("export", version).stdout == "prefix,category,price\n*,,90\n254,marketing,10\n"
    assert "no version that is valid" in run("assign", made, "--default", code=1).output
    assert "at the earliest" in run("publish", version, "--from", "2020-01-01", code=1).output
    run("publish", version)
    run("assign", made, "--default")
    (shown,) = as_json(run("list", "--json"))
    assert (shown["is_default"], shown["accounts"]) == (True, [])
    sheet.write_text("country,price\n*,91\n")
    assert "raised" in run("import", made, sheet).stdout
    raised = version + 1
    run("publish", raised)
    run("withdraw", raised)
    versions = as_json(run("show", made, "--json"))
    assert [each["status"] for each in versions] == ["withdrawn", "announced"]
    run("assign", "none", "--default")
    for arguments in (("show",), ("import", sheet), ("export",), ("withdraw",), ("publish",)):
        command, *more = arguments
        assert "There is no price" in run(command, 10**6, *more, code=1).output
