"""Writes what follows from the latest results into docs/notes/benchmarks.md, between its two markers."""

from pathlib import Path

import click

from bench.ratios import ratios
from bench.result import NAMES, Result, load
from bench.sizing import sizing

PAGE = Path(__file__).parent.parent / "docs" / "notes" / "benchmarks.md"
IDLE = 0.3
"""Most cores that other programs may use on a machine that counts as idle."""
BEGIN, END = "<!-- begin: python -m bench report -->", "<!-- end: python -m bench report -->"


def run() -> None:
    """Replace the text between the markers."""
    results = [result for name in NAMES if (result := load(name))]
    if not results:
        raise click.ClickException("There are no results. Run a benchmark first: python -m bench all")
    before, _, rest = PAGE.read_text().partition(BEGIN)
    _, end_marker, after = rest.partition(END)
    if not end_marker:
        raise click.ClickException(f"{PAGE} lacks the markers {BEGIN} and {END}; restore them")
    PAGE.write_text(f"{before}{BEGIN}\n\n{page(results)}\n{END}{after}")
    click.echo(f"{PAGE}: {', '.join(result.name for result in results)}", err=True)


def page(results: list[Result]) -> str:
    """The machine, the ratios, the sizing, and why a result is void, in Markdown."""
    parts = [_facts(results)]
    if shares := ratios():
        parts.append("### Beside floors and peers\n")
        parts.append(_table([["what", "figure", "beside", "its figure", "ratio"], *shares]))
    parts.append(sizing())
    parts += [f"**VOID: {result.name}: {reason}**\n" for result in results for reason in result.void]
    return "\n".join(part for part in parts if part)


def _facts(results: list[Result]) -> str:
    machine = results[0].machine
    cases = [case for result in results for case in result.cases]
    loads = [case.load_average for case in cases]
    others = [case.others for case in cases if case.others is not None]
    idle = others and max(others) < IDLE
    packages = ", ".join(f"{name} {version}" for name, version in machine["packages"].items())
    times = sorted(result.measured_at for result in results)
    revisions = " ".join(sorted({result.machine["revision"] for result in results}))
    lines = [
        f"Measured from {times[0]} to {times[-1]} at revision {revisions}, on {machine['cores']} cores of",
        f"{machine['cpu']} with {machine['memory_gib']} GiB, {machine['system']}, Python {machine['python']},",
        f"{packages}.",
        f"Load average before the cases: {min(loads, default=0):g} to {max(loads, default=0):g}.",
        f"Other programs used {min(others):g} to {max(others):g} cores at the same time." if others else "",
        "" if idle else "\n**On a loaded machine:** other programs were running, so the figures are too low.",
    ]
    return "\n".join(line for line in lines if line) + "\n"


def _table(rows: list[list[str]]) -> str:
    head, *body = rows
    lines = [head, ["---", *("---:" for _ in head[1:])], *body]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
