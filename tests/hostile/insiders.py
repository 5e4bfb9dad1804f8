"""What an attacker can do who may write to Redis, which carries tasks and holds nothing."""

import asyncio
import itertools

from redis.asyncio import Redis

from shared.settings import Settings
from shared.task_queue import QUEUE, make_celery
from tests.hostile.wire import Wire

PAUSE = 0.05
SHUTDOWN_EVERY = 20


async def writer_of_redis(wire: Wire) -> None:
    """Entries of the queue that are no tasks, 20 a second, and with each twentieth Celery's message to shut down."""
    url = wire.target.redis_url
    celery = make_celery(Settings(database_url="x", redis_url=url, broker_url=url, secret_key="x"))
    async with Redis.from_url(url) as redis:
        wire.counts["connections"] += 1
        for number in itertools.count():
            await redis.lpush(QUEUE, f'garbage "{number}')
            wire.counts["entries"] += 1
            if number % SHUTDOWN_EVERY == 0:
                await asyncio.to_thread(celery.control.shutdown)
                wire.counts["shutdowns"] += 1
            await asyncio.sleep(PAUSE)
