"""`bulksms statement`."""

import click

from bulksms.environment import of_account
from bulksms.output import json_option, show_rows
from shared.accounts.administration import Refused
from shared.statements import read_statement


@click.command()
@click.argument("account")
@click.argument("month")
@json_option
def statement(account: str, month: str, as_json: bool) -> None:
    """Show what moved the balance of an account in a month such as 2026-11: UTC, by the time of posting."""
    with of_account(account) as (connection, account_id):
        found = read_statement(connection, account_id, month)
    if found is None:
        raise Refused(f"{account} has no statement of {month!r}. A month is written as 2026-11.")
    show_rows(found.rows(), as_json, f"Statement of {month}{'' if found.closed_at else ', not closed yet'}", "")
