"""`bulksms audit`."""

import sys
from dataclasses import asdict
from datetime import UTC, datetime

import click
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from bulksms.environment import engine_of, installation
from bulksms.output import done, json_option, messages, show, show_json
from shared.accounts.administration import freeze_accounts
from shared.audit.check import Breach, Rule, audit, rules_of
from shared.audit.results import record_audit
from shared.plurals import counted

MAX_SHOWN = 5
"""Breaches of one rule shown in the table; `--json` has up to a hundred."""


@click.command("audit")
@click.option(
    "--full/--fast", default=False, help="Check everything, or only what is open or from the last day (default)."
)
@click.option("--no-freeze", is_flag=True, help="Do not freeze accounts whose credits do not add up.")
@json_option
def audit_command(full: bool, no_freeze: bool, as_json: bool) -> None:
    """Prove that every credit and message is accounted for. Safe on a live system; fails on any breach."""
    target = installation()
    results: list[tuple[Rule, list[Breach]]] = []
    began_at = datetime.now(UTC)
    with engine_of(target) as engine:
        columns = TextColumn("Auditing"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
        with Progress(*columns, TextColumn("{task.description}"), console=messages(), transient=True) as progress:
            task = progress.add_task("", total=len(rules_of(full)))

            def on_rule(rule: Rule, breaches: list[Breach]) -> None:
                results.append((rule, breaches))
                progress.update(task, advance=1, description=rule.name)

            breaches = audit(engine, full, target.settings.doubt_grace, on_rule)
        accounts = {breach.account_id for breach in breaches if breach.account_id is not None}
        with engine.begin() as connection:
            frozen = [] if no_freeze else freeze_accounts(connection, accounts)
            record_audit(connection, began_at, full, breaches, frozen)
    if as_json:
        show_json({"full": full, "breaches": [asdict(breach) for breach in breaches], "frozen": frozen})
    else:
        show(_table(results))
    for account in frozen:
        messages().print(
            f"[red]Account {account} is frozen: it accepts nothing new.[/red] Find the cause, then activate it:"
            f" bulksms account activate {account}"
        )
    if breaches:
        messages().print(
            f"[red]✗ {counted(len(breaches), 'breach', 'breaches')}.[/red] Nothing was changed except the accounts"
            " named above."
        )
        sys.exit(1)
    done(f"Clean: {counted(len(results), 'rule')}, {'everything' if full else 'open sends and the last day'}.")


def _table(results: list[tuple[Rule, list[Breach]]]) -> Table:
    table = Table("", "rule", "guarantee")
    for rule, breaches in results:
        table.add_row("[red]✗[/red]" if breaches else "[green]✓[/green]", rule.name, rule.guarantee)
        for breach in breaches[:MAX_SHOWN]:
            table.add_row("", "", f"[red]{escape(breach.subject)}[/red]: {escape(breach.detail)}")
        if len(breaches) > MAX_SHOWN:
            table.add_row("", "", f"[red]... and {len(breaches) - MAX_SHOWN} more, see --json[/red]")
    return table
