"""What the process of webhooks does, once: post the events that are due."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

from tests.harness.service import Service
from worker.webhooks.client import Client
from worker.webhooks.deliver import Deliverer

SECONDS = 60


def deliver(service: Service) -> None:
    """Post what is due now, to this machine too. In a thread of its own: a browser has the event loop of the test's."""

    async def run() -> None:
        client = Client(loopback=True)
        try:
            await Deliverer(service.engine, client, service.settings.secret_key).drain()
        finally:
            await client.close()

    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, run()).result(SECONDS)
