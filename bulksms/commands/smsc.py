"""`bulksms smsc`."""

import asyncio
import contextlib
import signal
from pathlib import Path
from typing import Any, get_args

import click

from bulksms.local.errors import LocalError
from bulksms.numbers import Number
from bulksms.output import messages, show
from bulksms.smsc.http_control import serve_http
from bulksms.smsc.records import Journal
from bulksms.smsc.server import Smsc
from bulksms.smsc.settings import AnswerIds, SmscSettings

EPILOG = """
Phone numbers that begin with 99901 to 99910 behave as with the built-in simulated carrier: undelivered, rejected,
throttled once, slow, accepted without a response, no response, receipt before the response, receipt twice, no receipt,
failing.
At 99911 the connection breaks; 99912 is followed by an invalid PDU.

With --stats-port, GET / returns the counters, and POST /inbound with {"phone", "recipient", "message"} delivers an
inbound message.
"""


@click.command(epilog=EPILOG)
@click.option("--host", default="127.0.0.1", show_default=True)
@click.option("--port", type=click.IntRange(0, 65535), default=2775, show_default=True, help="0: any free port.")
@click.option("--system-id", help="The only system_id to accept. [default: any]")
@click.option("--password", help="The only password to accept. [default: any]")
@click.option("--receipts/--no-receipts", default=True, show_default=True)
@click.option("--receipt-delay", type=Number(0), default=1.0, show_default=True, help="Seconds.")
@click.option("--receipt-window", type=click.IntRange(1), default=1000, show_default=True, help="Unanswered receipts.")
@click.option("--rate", type=Number(0), default=0.0, help="Submits per second; more are throttled.")
@click.option("--round-trip", type=Number(0), default=0.0, help="Delay of every PDU to the client, in seconds.")
@click.option("--slow-time", type=Number(0), default=1.0, help="Delay of the response to 99904…, in seconds.")
@click.option("--lose", type=Number(0, 1), default=0.0, help="Share of submits accepted without a response.")
@click.option("--drop-after", type=click.IntRange(0), default=0, help="Break the connection at every Nth submit.")
@click.option("--garbage-after", type=click.IntRange(0), default=0, help="Send an invalid PDU after every Nth submit.")
@click.option(
    "--answer-ids", type=click.Choice(get_args(AnswerIds)), default="same", help="Format of message ids in responses."
)
@click.option("--seed", type=int, default=0, help="Seed of the random numbers.")
@click.option(
    "--journal",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write a line for each submit, separated by tabs: time, destination, source, hash of the text with its header,"
    " data_coding, esm_class, id in the response, outcome, message id.",
)
@click.option("--message-id-tag", type=str, help="Vendor-specific parameter to add to the journal, such as 0x1400.")
@click.option("--stats-port", type=click.IntRange(1, 65535), help="HTTP port for the counters and POST /inbound.")
def smsc(journal: Path | None, message_id_tag: str | None, stats_port: int | None, **options: Any) -> None:
    """Run a simulated SMSC (SMPP 3.4) to try SMPP without a carrier. Ctrl-C stops it and prints its counters."""
    try:
        tag = int(message_id_tag, 0) if message_id_tag else None
    except ValueError:
        raise click.BadParameter("Give a number such as 0x1400.", param_hint="--message-id-tag") from None
    settings = SmscSettings(**options)
    with contextlib.ExitStack() as stack:
        file = stack.enter_context(journal.open("a", buffering=65536, encoding="utf-8")) if journal else None
        watch = Journal(file, tag) if file else None
        try:
            counts = asyncio.run(_serve(settings, watch, stats_port))
        except OSError as error:
            raise LocalError(f"The SMSC cannot listen: {error}") from error
    for name, value in counts.items():
        show(f"{name.replace('_', ' '):>20}  {value:,}")


async def _serve(settings: SmscSettings, watch: Journal | None, stats_port: int | None) -> dict[str, float]:
    server = Smsc(settings, watch)
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        server.loop.add_signal_handler(number, stop.set)
    await server.start()
    stats = await serve_http(server, stats_port) if stats_port else None
    messages().print(f"A simulated SMSC listens on {settings.host}:{server.port}. Ctrl-C stops it.")
    flush = asyncio.create_task(_flush(watch)) if watch is not None else None
    await stop.wait()
    if flush is not None:
        flush.cancel()
    if stats is not None:
        await stats.cleanup()
    await server.stop()
    return server.records.as_json()


async def _flush(journal: Journal) -> None:
    """Flush the journal often, so that it can be read while the SMSC runs."""
    while True:
        await asyncio.sleep(0.2)
        journal.flush()
