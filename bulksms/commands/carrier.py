"""`bulksms carrier`."""

import json
import time
from pathlib import Path
from uuid import UUID

import click
from sqlalchemy import create_engine

from api.operator.carriers.accept_test_message import accept_test_message
from api.problems import Problem
from api.services import Services
from bulksms.environment import NOWHERE, database, engine_of, installation
from bulksms.numbers import Number
from bulksms.output import done, json_option, show, show_one, show_rows
from shared.accounts.administration import Refused
from shared.carriers import control as live
from shared.carriers.control import MAX_RATE
from shared.db.connection import reading
from shared.lifecycle import LANES, MessageStatus
from shared.settings import DEFAULTS
from shared.task_queue import make_celery
from worker.carrier_config.file import CarriersError, read_carriers
from worker.routing.routes import Route


@click.group()
def carrier() -> None:
    """Show and change carriers.

    Changes take effect in all workers within two seconds and drop no connection.
    """


@carrier.command("list")
@json_option
def list_carriers(as_json: bool) -> None:
    """List carriers with the status that workers report."""
    with database() as connection:
        rows = live.list_carriers(connection)
    show_rows(rows, as_json, "Carriers", "No worker reports a carrier. Run `bulksms doctor`.")


@carrier.command()
@click.argument("name", required=False)
@click.option("--limit", type=click.IntRange(1, 1000), default=20, show_default=True)
@json_option
def unreadable(name: str | None, limit: int, as_json: bool) -> None:
    """List receipts that could not be parsed, as received, newest first. They contain phone numbers."""
    with database() as connection:
        rows = live.unreadable_receipts(connection, name, limit)
    if not as_json:
        rows = [{column: value for column, value in row.items() if column not in ("id", "hex")} for row in rows]
    show_rows(rows, as_json, "Unreadable receipts", "Every receipt could be read.")


@carrier.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
def check(file: Path) -> None:
    """Validate a CARRIERS_FILE without using it. Variables are read from this environment."""
    try:
        described = read_carriers(file, DEFAULTS.lease, create_engine(NOWHERE))
    except CarriersError as error:
        raise Refused(str(error)) from None
    for each in described.carriers:
        rate = f"{each.rate:g} segments a second" if each.rate else "no rate limit"
        share = f"{described.shares[each.name]:.0%} reserved for authentication"
        show(f"carrier {each.name}: {rate}, window {each.window}, {share}", markup=False)
    for route in described.routes.routes if described.routes else ():
        show(f"route {route.name}: {_conditions(route)} -> {_order(route)}", markup=False)
    for limit in described.routes.limits if described.routes else ():
        show(f"limit {limit.name}: {limit.rate:g} segments a second", markup=False)
    done(f"{file} can be used. Workers read it when they start.")


def _conditions(route: Route) -> str:
    described = [
        f"prefixes {', '.join(route.prefixes)}" if route.prefixes else "",
        f"senders {', '.join(sorted(route.senders))}" if route.senders else "",
        f"categories {', '.join(LANES[lane] for lane in sorted(route.lanes))}" if route.lanes else "",
    ]
    return " and ".join(filter(None, described)) or "every message"


def _order(route: Route) -> str:
    return f"the cheapest of {', '.join(route.carriers)}" if route.cheapest else ", then ".join(route.carriers)


@carrier.command("set")
@click.argument("name")
@click.option("--rate", type=Number(0, MAX_RATE), help="Segments per second, for all workers together; 0: unlimited.")
@click.option("--window", type=click.IntRange(1, 1000), help="Unanswered messages per worker.")
@click.option("--reset", is_flag=True, help="Use the values of CARRIERS_FILE again.")
def set_carrier(name: str, rate: float | None, window: int | None, reset: bool) -> None:
    """Change a carrier's rate or window."""
    if reset == (rate is not None or window is not None):
        raise click.UsageError("Give --rate or --window or both, or --reset.")
    with database() as connection:
        if reset:
            live.reset(connection, name)
        else:
            live.change(connection, name, rate, window)
    done(f"{name} is changed. Workers apply it within two seconds.")


@carrier.command()
@json_option
def limits(as_json: bool) -> None:
    """List the rate limits of sender IDs and prefixes."""
    with database() as connection:
        rows = live.list_limits(connection)
    show_rows(rows, as_json, "Limits", "CARRIERS_FILE has no [[limits]], or no worker runs.")


@carrier.command()
@click.argument("name")
@click.option("--rate", type=Number(0, MAX_RATE), help="Segments per second; 0 lifts the limit.")
@click.option("--reset", is_flag=True, help="Use the value of CARRIERS_FILE again.")
def limit(name: str, rate: float | None, reset: bool) -> None:
    """Change a limit by its name, such as "sender ACME" or "prefix 254"."""
    if reset == (rate is not None):
        raise click.UsageError("Give --rate or --reset.")
    with database() as connection:
        live.change_limit(connection, name, rate)
    done(f"{name} is changed. Workers apply it within two seconds.")


@carrier.command()
@click.argument("name")
def pause(name: str) -> None:
    """Stop submitting to a carrier. Its messages take another route, or wait."""
    with database() as connection:
        live.change(connection, name, paused=True)
    done(f"{name} is paused. To resume it: bulksms carrier resume {name}")


@carrier.command()
@click.argument("name")
def resume(name: str) -> None:
    """Resume a paused carrier."""
    with database() as connection:
        live.change(connection, name, paused=False)
    done(f"{name} is resumed.")


@carrier.command()
@click.argument("name")
@click.argument("phone")
@click.option("--sender", default=live.SENDER, show_default=True, help="A sender ID that the carrier accepts.")
@click.option("--text", default=live.TEXT, show_default=True)
@click.option("--wait", type=Number(0, 600), default=30.0, show_default=True, help="Seconds to wait for the outcome.")
@json_option
def test(name: str, phone: str, sender: str, text: str, wait: float, as_json: bool) -> None:
    """Send one test message through one carrier.

    The message is accepted, paid for and sent like any other; only the choice of the carrier is skipped. The account
    `carrier-test` pays for it. It is created, and topped up, when needed.
    """
    target = installation()
    with engine_of(target) as engine:
        services = Services(target.settings, engine, make_celery(target.settings))
        try:
            answered = accept_test_message(services, name, {"sender_id": sender, "phone": phone, "message": text})
        except Problem as problem:
            raise Refused(f"The message was not accepted: {problem.detail}") from None
        send = UUID(json.loads(answered.body)["send_id"])
        deadline = time.monotonic() + wait
        while True:
            with reading(engine) as connection:
                result = live.outcome(connection, send)
            finished = result is not None and result["status"] != MessageStatus.SENT
            if finished or time.monotonic() >= deadline:
                break
            time.sleep(0.2)
    if result is None:
        raise Refused(
            f"The message still waits after {wait:g} s and will be sent later. To see the state of {name}:"
            " bulksms carrier list"
        )
    show_one({"send_id": send, **result}, as_json)
