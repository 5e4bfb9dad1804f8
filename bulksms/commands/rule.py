"""`bulksms rule`."""

import re

import click

from bulksms.environment import of_account
from bulksms.output import done, json_option, show_rows
from shared.accounts import category_rules
from shared.accounts.administration import Refused
from shared.sends.quiet_hours import clock

CLOCK = re.compile(r"([01]?[0-9]|2[0-3]):([0-5][0-9])", re.ASCII)
CATEGORY = click.Choice(["transactional", "marketing"])


@click.group()
def rule() -> None:
    """Manage an account's default rules by category: quiet hours and frequency caps."""


@rule.command("list")
@click.argument("account")
@json_option
def list_rules(account: str, as_json: bool) -> None:
    """Show an account's rules."""
    with of_account(account) as (connection, account_id):
        rows = category_rules.list_rules(connection, account_id)
    shown = [
        {
            "category": row.category,
            "quiet_from": None if row.quiet_from is None else clock(row.quiet_from),
            "quiet_until": None if row.quiet_until is None else clock(row.quiet_until),
            "cap_messages": row.cap_messages,
            "cap_hours": row.cap_hours,
        }
        for row in rows
    ]
    show_rows(shown, as_json, f"Rules of {account}", "It has none.")


@rule.command("quiet-hours")
@click.argument("account")
@click.argument("category", type=CATEGORY)
@click.argument("begins")
@click.argument("ends", required=False)
def quiet_hours(account: str, category: str, begins: str, ends: str | None) -> None:
    """Set quiet hours of a category from BEGINS to ENDS, recipient's time: 21:00 08:00; or `none`."""
    hours = None if begins == "none" and ends is None else (_minute(begins), _minute(ends or ""))
    with of_account(account) as (connection, account_id):
        category_rules.set_quiet_hours(connection, account_id, category, hours)
    done(f"New {category} sends of {account} have {'no quiet hours' if hours is None else 'these quiet hours'}.")


@rule.command()
@click.argument("account")
@click.argument("category", type=CATEGORY)
@click.argument("most", type=click.IntRange(0))
@click.argument("hours", type=click.IntRange(1, category_rules.MAX_HOURS), default=24)
def cap(account: str, category: str, most: int, hours: int) -> None:
    """Limit messages of a category to MOST per phone number in HOURS; 0: no limit."""
    with of_account(account) as (connection, account_id):
        category_rules.set_cap(connection, account_id, category, (most, hours) if most else None)
    done(f"New {category} sends of {account} have {'this cap' if most else 'no cap'}.")


def _minute(time: str) -> int:
    match = CLOCK.fullmatch(time)
    if match is None:
        raise Refused(f"{time!r} is not a time of day. Give two, such as 21:00 08:00, or `none`.")
    return int(match[1]) * 60 + int(match[2])
