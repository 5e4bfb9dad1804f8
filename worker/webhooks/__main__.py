"""A process that posts events to webhooks. Run as many as needed, on any machine; they do not need the broker."""

import asyncio
import logging
import signal
import threading
from datetime import timedelta
from functools import partial
from uuid import uuid4

from sqlalchemy import Engine

from shared.db.connection import make_engine, transaction
from shared.db.encryption_keys import WrongTextKeys
from shared.db.schema import WrongSchema
from shared.encryption import Texts
from shared.observability.logs import configure_logging
from shared.observability.metrics_server import serve_metrics
from shared.observability.traces import start_traces, stop_traces
from shared.periodic import repeat
from shared.settings import Settings, SettingsError, from_environment
from shared.startup import wait_for_database
from worker.leases import take_lease
from worker.outages import Outage
from worker.webhooks.client import Client
from worker.webhooks.deliver import DATABASE_THREADS, Deliverer
from worker.webhooks.health import prefix
from worker.webhooks.prune import prune
from worker.webhooks.renumber import mend_order

log = logging.getLogger(__name__)

ALIVE_SECONDS, PRUNE_SECONDS, HUNG_SECONDS = 2.0, 10.0, 5.0


async def deliver(engine: Engine, settings: Settings) -> None:
    """Post events until SIGTERM or SIGINT; meanwhile show that this process is alive, and delete old events."""
    loop, client = asyncio.get_running_loop(), Client(settings.webhook_loopback)
    deliverer = Deliverer(engine, client, settings.secret_key, settings.secret_key_fallbacks)
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, deliverer.stop.set)
    stop, tolerated, name = threading.Event(), Outage().tolerated(), f"{prefix()}{uuid4()}"

    def beat_if_the_loop_runs() -> None:
        asyncio.run_coroutine_threadsafe(asyncio.sleep(0), loop).result(HUNG_SECONDS)
        with transaction(engine, durable=False) as connection:
            take_lease(connection, name, name, timedelta(seconds=10))

    repeat(tolerated(beat_if_the_loop_runs), ALIVE_SECONDS, "alive", stop, at_once=True)
    repeat(tolerated(partial(prune, engine)), PRUNE_SECONDS, "prune", stop, at_once=True)
    try:
        await deliverer.run()
    finally:
        stop.set()
        await client.close()


def main() -> None:
    """Run the process. Exits with a message if the settings, the schema or the text keys are wrong."""
    configure_logging()
    try:
        settings = from_environment()
        start_traces("webhooks")
    except SettingsError as problem:
        raise SystemExit(str(problem)) from None
    texts = Texts(settings.text_keys)
    connections = DATABASE_THREADS + 3  # for the renewals of leases, the heartbeat, and `prune`
    engine = make_engine(settings.database_url, connections, "bulksms-webhooks", by_key=True, texts=texts)
    try:
        wait_for_database(engine)
    except (WrongSchema, WrongTextKeys) as problem:
        raise SystemExit(str(problem)) from None
    renumbered = mend_order(engine)
    if renumbered:
        log.warning("the database was restored from a dump: renumbered %d rows of events", renumbered)
    serve_metrics(settings)
    asyncio.run(deliver(engine, settings))
    stop_traces()


if __name__ == "__main__":
    main()
