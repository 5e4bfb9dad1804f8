"""Whether Redis and the broker of the tasks answer, and take what is written to them."""

from collections.abc import Iterator
from typing import cast

from kombu import Connection
from redis import Redis
from redis.exceptions import OutOfMemoryError, ReadOnlyError, RedisError

from bulksms.environment import Installation
from bulksms.finding import Finding

PROBE = "bulksms:doctor"
"""A key that is written to see whether Redis takes it; it expires after a second."""
SECONDS = 2
MEANWHILE = "(workers look for messages each second meanwhile)"
EVICTS = "redis-cli CONFIG SET maxmemory-policy noeviction, and in redis.conf: it evicts the queue otherwise."


def check_brokers(found: Installation, start_redis: str, start_broker: str) -> Iterator[Finding]:
    """One finding for Redis, and one for the broker where that is another server."""
    settings = found.settings
    yield _redis("redis", settings.redis_url, start_redis)
    if settings.broker_url == settings.redis_url:
        return
    if settings.broker_url.startswith("redis"):
        yield _redis("broker", settings.broker_url, start_broker)
    else:
        yield _amqp(settings.broker_url, start_broker)


def _redis(name: str, url: str, start: str) -> Finding:
    try:
        with Redis.from_url(
            url, socket_timeout=SECONDS, socket_connect_timeout=SECONDS, decode_responses=True
        ) as client:
            client.set(PROBE, 1, px=1000)
            policy = cast(dict[str, str], client.config_get("maxmemory-policy")).get("maxmemory-policy")
    except OutOfMemoryError:
        return Finding(name, "wrong", f"out of memory {MEANWHILE}", "Raise maxmemory, or find what fills it.")
    except ReadOnlyError:
        remedy = "Name the primary's address, not a replica's, or promote it: redis-cli REPLICAOF NO ONE"
        return Finding(name, "wrong", f"a read-only replica {MEANWHILE}", remedy)
    except RedisError as error:
        detail = (str(error).strip().splitlines() or ["no answer"])[0]
        remedy = "See the log of Redis: it cannot save to its disk." if detail.startswith("MISCONF") else start
        return Finding(name, "wrong", f"{detail} {MEANWHILE}", remedy)
    if policy != "noeviction":
        return Finding(name, "wrong", f"maxmemory-policy is {policy}", EVICTS)
    return Finding(name, "ok", "answers, takes writes, evicts nothing")


def _amqp(url: str, start: str) -> Finding:
    try:
        with Connection(url, connect_timeout=SECONDS) as connection:
            connection.ensure_connection(max_retries=1, timeout=SECONDS)
    except Exception as error:  # each transport has errors of its own
        return Finding("broker", "wrong", f"{str(error).strip() or 'no answer'} {MEANWHILE}", start)
    return Finding("broker", "ok", "takes connections")
