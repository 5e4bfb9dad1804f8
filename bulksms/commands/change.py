"""`bulksms changes`."""

import click
from sqlalchemy import text

from bulksms.commands.common import database, json_option, show_rows
from shared.accounts import administration as accounts

LIST = text(
    """
    SELECT c.id, c.at, a.name AS account, c.who, c.what, c.subject, c.before, c.after, c.reason, c.request_id, c.address
      FROM change c LEFT JOIN account a ON a.id = c.account_id
     WHERE (CAST(:account AS bigint) IS NULL OR c.account_id = :account)
       AND (CAST(:what AS text) IS NULL OR starts_with(c.what, :what)) AND c.id < :before
     ORDER BY c.id DESC LIMIT :limit
    """
)
NEWEST = 2**63 - 1


@click.command()
@click.argument("account", required=False)
@click.option("--what", help="Only changes whose kind begins with this: `key`, or `key.revoked`.")
@click.option("--before", type=click.IntRange(1), default=NEWEST, help="Only changes older than this id.")
@click.option("--limit", type=click.IntRange(1, 10_000), default=50, show_default=True)
@json_option
def changes(account: str | None, what: str | None, before: int, limit: int, as_json: bool) -> None:
    """List changes of rights and money, newest first, for one account or all."""
    with database() as connection:
        owner = accounts.find_account(connection, account) if account else None
        values = {"account": owner, "what": what, "before": before, "limit": limit}
        rows = connection.execute(LIST, values).mappings().all()
    show_rows(rows, as_json, "Changes of rights and money", "There are none.")
