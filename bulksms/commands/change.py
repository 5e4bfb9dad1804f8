"""`bulksms changes`."""

import click

from bulksms.environment import database
from bulksms.output import json_option, show_rows
from shared.accounts import administration as accounts
from shared.accounts.audit_log import list_changes
from shared.ids import LAST_NUMBER


@click.command()
@click.argument("account", required=False)
@click.option("--what", help="Only changes whose kind begins with this: `key`, or `key.revoked`.")
@click.option("--who", help="Only changes by this actor, such as `key smsk_live_…` or `operator key opk_…`.")
@click.option("--before", type=click.IntRange(1), default=LAST_NUMBER, help="Only changes older than this id.")
@click.option("--limit", type=click.IntRange(1, 10_000), default=50, show_default=True)
@json_option
def changes(account: str | None, what: str | None, who: str | None, before: int, limit: int, as_json: bool) -> None:
    """List changes of rights and money, newest first, for one account or all."""
    with database() as connection:
        owner = accounts.find_account(connection, account) if account else None
        rows = list_changes(connection, account_id=owner, who=who, action=what, before=before, limit=limit)
    show_rows(rows, as_json, "Changes of rights and money", "There are none.")
