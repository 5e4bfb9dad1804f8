"""`bulksms doctor`."""

import sys
from dataclasses import asdict

import click
from rich.markup import escape
from rich.table import Table

from bulksms.carriers_file import check_carriers_file
from bulksms.environment import engine_of, installation
from bulksms.output import done, json_option, messages, show, show_json
from shared.health import doctor as checks
from shared.health.finding import Finding
from shared.plurals import counted
from shared.settings import SIMULATED, SettingsError

MARKS = {"ok": "[green]✓[/green]", "notice": "[yellow]![/yellow]", "wrong": "[red]✗[/red]"}


@click.command()
@json_option
def doctor(as_json: bool) -> None:
    """Check settings, Postgres, Redis, workers and queue, with a remedy for each problem. Fails on any ✗."""
    with messages().status("Checking ..."):
        findings = _findings()
    if as_json:
        show_json([asdict(finding) for finding in findings])
    else:
        table = Table(show_header=False, box=None)
        table.add_column(no_wrap=True)
        table.add_column(no_wrap=True)
        table.add_column(overflow="fold")
        for finding in findings:
            table.add_row(MARKS[finding.outcome], escape(finding.name), escape(finding.detail))
            if finding.remedy:
                table.add_row("", "", escape(f"→ {finding.remedy}"))
        show(table)
    wrong = sum(finding.outcome == "wrong" for finding in findings)
    if wrong:
        messages().print(f"[red]✗ {wrong} of {len(findings)} checks failed.[/red]")
        sys.exit(1)
    done(conclusion(findings))


def conclusion(findings: list[Finding]) -> str:
    """What to conclude if no check failed."""
    notices = [finding.detail for finding in findings if finding.outcome == "notice"]
    if notices == [SIMULATED]:
        return f"All is well. {SIMULATED}"
    return f"No check failed. Look at {counted(len(notices), 'notice')} marked !." if notices else "All is well."


def _findings() -> list[Finding]:
    try:
        target = installation()
        settings = Finding("settings", "ok", f"from {target.source}")
        with engine_of(target) as engine:
            return [settings, check_carriers_file(target), *checks.examine(target, engine)]
    except SettingsError as error:
        return [Finding("settings", "wrong", "incomplete", str(error))]
