"""`bulksms margin`."""

from datetime import datetime

import click

from bulksms.environment import database
from bulksms.output import json_option, show_rows
from shared.prices.margin import COLUMNS, DIMENSIONS
from shared.prices.margin import margin as report

DAY = click.DateTime(["%Y-%m-%d"])


@click.command()
@click.option("--by", type=click.Choice(DIMENSIONS), multiple=True, help="Repeat it for several; by default all.")
@click.option("--since", type=DAY, metavar="DATE", help="The first day, in UTC; by default 30 days ago.")
@click.option("--until", type=DAY, metavar="DATE", help="The last day, in UTC; by default today.")
@json_option
def margin(by: tuple[str, ...], since: datetime | None, until: datetime | None, as_json: bool) -> None:
    """Show what messages that carriers accepted brought and cost, in credits."""
    chosen = by or DIMENSIONS
    hidden = {*DIMENSIONS, "account_id"} - {*chosen, "account_id" if "account" in chosen else ""}
    with database() as connection:
        rows = report(connection, chosen, since=since and since.date(), until=until and until.date())
    shown = ({name: row[name] for name in COLUMNS if name not in hidden} for row in rows)
    show_rows(shown, as_json, "Margin", "Nothing was counted: no carrier had costs, or accepted messages.")
