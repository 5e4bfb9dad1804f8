"""Writes the last results into docs/operating/performance.md, between its two markers."""

from pathlib import Path

import click

from bench.ratios import ratios
from bench.result import NAMES, Result, load, tables
from bench.sizing import sizing

PAGE = Path(__file__).parent.parent / "docs" / "operating" / "performance.md"
QUIET = 0.3
"""Cores that other programs may use where a machine counts as quiet."""
BEGIN, END = "<!-- begin: python -m bench report -->", "<!-- end: python -m bench report -->"


def run() -> None:
    """Replace what stands between the markers by the results there are."""
    results = [result for name in NAMES if (result := load(name))]
    if not results:
        raise click.ClickException("There are no results. Measure first: python -m bench all")
    before, _, rest = PAGE.read_text().partition(BEGIN)
    _, found, after = rest.partition(END)
    if not found:
        raise click.ClickException(f"{PAGE} has lost its markers: {BEGIN} and {END}")
    PAGE.write_text(f"{before}{BEGIN}\n\n{page(results)}\n{END}{after}")
    click.echo(f"{PAGE}: {', '.join(result.name for result in results)}", err=True)


def page(results: list[Result]) -> str:
    """Every result, the ratios, and the sizes that follow, in Markdown."""
    parts = [_facts(results)]
    if shares := ratios():
        parts.append("### Beside floors and peers\n")
        parts.append(_table([["what", "figure", "beside", "its figure", "ratio"], *shares]))
    parts += [sizing(), *(_section(result) for result in results)]
    return "\n".join(part for part in parts if part)


def _facts(results: list[Result]) -> str:
    machine = results[0].machine
    cases = [case for result in results for case in result.cases]
    loads = [case.load_average for case in cases]
    others = [case.others for case in cases if case.others is not None]
    quiet = others and max(others) < QUIET
    packages = ", ".join(f"{name} {version}" for name, version in machine["packages"].items())
    times = sorted(result.measured_at for result in results)
    revisions = " ".join(sorted({result.machine["revision"] for result in results}))
    lines = [
        f"Measured from {times[0]} to {times[-1]} at revision {revisions}, on {machine['cores']} cores of",
        f"{machine['cpu']} with {machine['memory_gib']} GiB, {machine['system']}, Python {machine['python']},",
        f"{packages}.",
        f"Load average before the cases: {min(loads, default=0):g} to {max(loads, default=0):g}.",
        f"Other programs used {min(others):g} to {max(others):g} cores meanwhile." if others else "",
        "" if quiet else "\n**On a loaded machine:** others used it too, so the figures are lower than it can give.",
    ]
    return "\n".join(line for line in lines if line) + "\n"


def _section(result: Result) -> str:
    parts = [f"### {result.name}\n"]
    for title, rows in tables(result):
        parts += [f"{title}:\n", _table(rows)]
    parts += [f"{result.note}\n"] if result.note else []
    parts += [f"**VOID: {reason}**\n" for reason in result.void]
    return "\n".join(parts)


def _table(rows: list[list[str]]) -> str:
    head, *body = rows
    lines = [head, ["---", *("---:" for _ in head[1:])], *body]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
