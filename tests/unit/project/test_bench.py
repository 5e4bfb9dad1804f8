"""What is made of measurements: tables, shares, sizes and a page."""

import ast
from pathlib import Path

import pytest

import bench
from bench import ratios, report
from bench.limits import PATH
from bench.meter import Meter
from bench.result import Case, Result, load
from bench.rounds import merged
from bench.scale import carried
from bench.sizing import sizing
from bench.statistics import Counts

ROOT = Path(bench.__file__).parent
BULK = "1 x 100,000, without"


@pytest.fixture(autouse=True)
def _results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bench.result.RESULTS", tmp_path)


def saved(name: str, run: str, case: Case) -> Result:
    result = Result(name, run, short=True, cases=[case])
    result.save()
    return result


def test_it_works() -> None:
    made = saved("bulk", "now", Case(BULK, {"submitted/s": 11_422.4}, {"api": 1.3}))
    assert load("bulk") == made


def test_a_meter_that_was_never_started_is_stopped() -> None:
    """So what failed before it was started is what is reported."""
    Meter(dict).stop()


def test_shares_are_of_the_same_run_only() -> None:
    saved("bulk", "first", Case(BULK, {"submitted/s": 5_000}))
    saved("limits", "second", Case(PATH, {"submitted/s": 20_000}))
    assert ratios.ratios() == []
    saved("limits", "first", Case(PATH, {"submitted/s": 20_000}))
    assert ratios.ratios() == [[f"bulk: {BULK}, submitted/s", "5,000", PATH, "20,000", "25%"]]


def rounds(name: str, case: str, figure: str, *values: float) -> Result:
    made = merged([Result(name, "now", short=True, cases=[Case(case, {figure: value})]) for value in values])
    made.save()
    return made


def test_several_rounds_give_the_median_of_their_shares() -> None:
    rounds("bulk", BULK, "submitted/s", 5_000, 9_000, 8_000)
    rounds("limits", PATH, "submitted/s", 20_000, 10_000, 20_000)
    cells = [f"bulk: {BULK}, submitted/s", "8,000", PATH, "20,000", "40% (25% to 90%)"]
    assert ratios.ratios() == [cells]
    rounds("limits", PATH, "submitted/s", 20_000, 10_000)
    assert ratios.ratios() == [[*cells[:3], "15,000", "53%"]]


def test_a_figure_is_the_median_of_the_rounds_that_have_it() -> None:
    first = Result("bulk", "now", short=True, cases=[Case(BULK, {"a": 1, "b": 7}, {"api": 3}, {"api": 3}, 0.5, 0.1)])
    second = Result("bulk", "now", short=True, cases=[Case(BULK, {"a": 4}, {"api": 1}, {"api": 9}, 0.2)], void=["no"])
    third = Result("bulk", "now", short=True, cases=[Case(BULK, {"a": 2}, {"api": 2}, {"api": 5}, 0.1)])
    made = merged([first, second, third])
    figures = [{"a": 1, "b": 7}, {"a": 4}, {"a": 2}]
    assert made.cases == [Case(BULK, {"a": 2, "b": 7}, {"api": 2}, {"api": 9}, 0.5, 0.1, figures)]
    assert (made.rounds, made.void) == (3, ["no"])
    made.save()
    assert load("bulk") == made


def test_figures_that_only_a_later_round_has_are_kept() -> None:
    first = Result("peers", "now", short=True, cases=[Case(PATH, {"a": 1})])
    second = Result("peers", "now", short=True, cases=[Case(PATH, {"a": 3, "errors": 7}), Case(BULK, {"a": 5})])
    made = merged([first, second])
    assert [(case.name, case.figures) for case in made.cases] == [(PATH, {"a": 2, "errors": 7}), (BULK, {"a": 5})]
    assert made.cases[1].rounds == [{}, {"a": 5}]


def test_a_round_is_compared_with_its_own() -> None:
    case = Case(BULK, rounds=[{"submitted/s": 5_000}, {}, {"submitted/s": 9_100}])
    Result("bulk", "now", short=True, cases=[case]).save()
    rounds("limits", PATH, "submitted/s", 20_000, 10_000, 10_000)
    assert ratios.ratios()[0][-1] == "58% (25% to 91%)"


def test_cores_follow_from_the_processor_time() -> None:
    cpu = {"api": 7.0, "worker": 70.0, "postgres": 35.0, "redis": 0.0, "smsc": 900.0}
    saved("bulk", "now", Case(BULK, {"submitted/s": 1.0}, cpu))
    assert "| bulk, without receipts | 10,000 | 0.1 | 1.0 | 0.5 | 0.0 | 1.6 |" in sizing()


def test_the_page_keeps_the_text_around_the_figures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"Above\n{report.BEGIN}\nold\n{report.END}\nBelow\n")
    monkeypatch.setattr(report, "PAGE", page)
    case = Case(BULK, {"submitted/s": 11_422.4}, {"api": 7.0, "worker": 70.0, "postgres": 35.0, "redis": 0.0})
    result = Result("bulk", "now", short=True, cases=[case], void=["came twice"])
    result.save()
    report.run()
    text = page.read_text()
    assert text.startswith("Above\n") and text.endswith("\nBelow\n") and "old" not in text
    assert sizing() in text and "VOID: bulk: came twice" in text


def test_measurements_import_no_tests() -> None:
    for path in sorted(ROOT.glob("*.py")):
        found = [
            node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Import | ast.ImportFrom)
        ]
        names = {alias.name for node in found if isinstance(node, ast.Import) for alias in node.names}
        names |= {str(node.module) for node in found if isinstance(node, ast.ImportFrom)}
        names.discard("api.server.application")  # the server, under which Flask that does nothing is measured too
        assert {name.partition(".")[0] for name in names}.isdisjoint({"tests", "api", "worker"}), path.name


def test_commits_while_waiting_for_statistics_are_subtracted() -> None:
    at_rest, before, after = Counts(70, 40, 0), Counts(100, 50, 1_000), Counts(430, 160, 31_000)
    rates = after.per(100, before, at_rest)
    assert rates == {"commits per message": 3.0, "fsyncs per message": 1.0, "WAL bytes per message": 290.0}


def test_the_measured_rate_leaves_out_the_beginning_and_the_end() -> None:
    assert carried([(0.0, 5), (1.0, 15), (2.0, 55), (3.0, 95), (9.0, 105)], messages=100) == 40.0
