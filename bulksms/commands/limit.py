"""`bulksms limit`."""

from typing import Any

import click

from bulksms.environment import database, of_account
from bulksms.output import done, json_option, show_one, show_rows
from shared.accounts import administration as accounts
from shared.accounts.limits import destinations as to_prefixes
from shared.accounts.limits import limits_with_spending, pumping_findings, set_limits


class NumberOrNone(click.ParamType[Any]):
    """A whole number, or `none`."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | None:
        """Convert to int, or to None for `none`."""
        if value == "none":
            return None
        try:
            return int(value)
        except ValueError:
            self.fail(f"{value!r} is neither a whole number nor `none`.", param, ctx)


NUMBER = NumberOrNone()
RECIPIENT_HELP = "Messages of category {} to one phone number per hour; 0: no limit, `none`: use RECIPIENT_LIMITS."


@click.group()
def limit() -> None:
    """Manage an account's limits on requests, spending and destinations, and its pumping guard."""


@limit.command()
@click.argument("account")
@json_option
def show(account: str, as_json: bool) -> None:
    """Show an account's limits and spending."""
    with of_account(account) as (connection, account_id):
        limits = limits_with_spending(connection, account_id)
    show_one(limits, as_json)


# Without this `-5` would be an unknown option rather than a refused number.
@limit.command("set", context_settings={"ignore_unknown_options": True})
@click.argument("account")
@click.option("--requests-per-second", type=NUMBER, help="For all keys together, or `none`.")
@click.option("--spend-day", type=NUMBER, help="Credits that sends may reserve per UTC day, or `none`.")
@click.option("--spend-month", type=NUMBER, help="Credits that sends may reserve per UTC month, or `none`.")
@click.option("--destinations", help="Allowed prefixes (254) and countries (KE), separated by commas, or `all`.")
@click.option("--pumping", type=click.Choice(["off", "watch", "block"]), help="What to do about suspected pumping.")
@click.option("--recipient-authentication", type=NUMBER, help=RECIPIENT_HELP.format("authentication"))
@click.option("--recipient-transactional", type=NUMBER, help=RECIPIENT_HELP.format("transactional"))
@click.option("--recipient-marketing", type=NUMBER, help=RECIPIENT_HELP.format("marketing"))
@click.option("--reason", help="Kept in the audit log.")
@json_option
def set_limit(
    account: str, destinations: str | None, pumping: str | None, reason: str | None, as_json: bool, **numbers: Any
) -> None:
    """Change the given limits; the others stay."""
    source = click.get_current_context().get_parameter_source
    given = {name: value for name, value in numbers.items() if source(name) != click.core.ParameterSource.DEFAULT}
    if destinations is not None:
        given["destinations"] = None if destinations == "all" else to_prefixes(_items(destinations))
    if pumping is not None:
        given["pumping"] = pumping
    if not given:
        raise click.UsageError("Provide at least one limit.")
    with of_account(account) as (connection, account_id):
        set_limits(connection, account_id, reason=reason, **given)
        limits = limits_with_spending(connection, account_id)
    show_one(limits, as_json)
    done("The API applies this within two seconds.")


@limit.command()
@click.argument("account", required=False)
@click.option("--limit", type=click.IntRange(1, 10_000), default=50, show_default=True)
@json_option
def findings(account: str | None, limit: int, as_json: bool) -> None:
    """List findings of the pumping guard, newest first."""
    with database() as connection:
        owner = accounts.find_account(connection, account) if account else None
        found = pumping_findings(connection, account_id=owner, limit=limit)
    rows = [{name: value for name, value in row.items() if name not in ("id", "account_id")} for row in found]
    show_rows(rows, as_json, "Unusual traffic", "Nothing was found.")


def _items(comma_separated: str) -> list[str]:
    return [item.strip() for item in comma_separated.split(",") if item.strip()]
