"""Findings of `bulksms doctor` about Redis and the task broker."""

from collections.abc import Iterator
from typing import cast

from kombu import Connection
from redis import Redis
from redis.exceptions import OutOfMemoryError, ReadOnlyError, RedisError, ResponseError

from shared.health.finding import Finding, Installation, first_line
from shared.redis_client import is_redis, redis_client

PROBE = "bulksms:doctor"
"""Key written to test whether Redis accepts writes; it expires after a second."""
TIMEOUT = 2
CONSEQUENCE = "(workers poll for messages every second until then)"
EVICTS = "redis-cli CONFIG SET maxmemory-policy noeviction, and set it in redis.conf too, or the queue may be evicted."


def check_brokers(target: Installation, start_redis: str, start_broker: str) -> Iterator[Finding]:
    """Yield a finding for Redis, and one for the broker if it is another server."""
    settings = target.settings
    yield _redis("redis", settings.redis_url, start_redis)
    if settings.broker_url == settings.redis_url:
        return
    if is_redis(settings.broker_url):
        yield _redis("broker", settings.broker_url, start_broker)
    else:
        yield _amqp(settings.broker_url, start_broker)


def _redis(name: str, url: str, start: str) -> Finding:
    try:
        with redis_client(url, TIMEOUT, decode_responses=True) as client:
            client.set(PROBE, 1, px=1000)
            policy = _policy(client)
    except OutOfMemoryError:
        return Finding(name, "wrong", f"out of memory {CONSEQUENCE}", "Raise maxmemory, or find what fills it.")
    except ReadOnlyError:
        remedy = "Name the primary's address, not a replica's, or promote it: redis-cli REPLICAOF NO ONE"
        return Finding(name, "wrong", f"a read-only replica {CONSEQUENCE}", remedy)
    except RedisError as error:
        detail = first_line(error)
        remedy = "Check the Redis log: it cannot save to its disk." if detail.startswith("MISCONF") else start
        return Finding(name, "wrong", f"{detail} {CONSEQUENCE}", remedy)
    if policy is None:
        remedy = "Make sure that its maxmemory-policy is noeviction, or the queue may be evicted."
        return Finding(name, "notice", "answers and accepts writes; its eviction policy could not be checked", remedy)
    if policy != "noeviction":
        return Finding(name, "wrong", f"maxmemory-policy is {policy}", EVICTS)
    return Finding(name, "ok", "answers and accepts writes; eviction is off")


def _policy(client: Redis) -> str | None:
    """The server's maxmemory-policy; None if it does not tell, as CONFIG is off on many managed servers."""
    try:
        return cast(dict[str, str], client.config_get("maxmemory-policy")).get("maxmemory-policy")
    except ResponseError:
        return None


def _amqp(url: str, start: str) -> Finding:
    try:
        with Connection(url, connect_timeout=TIMEOUT) as connection:
            connection.ensure_connection(max_retries=1, timeout=TIMEOUT)
    except Exception as error:  # each transport has its own exceptions
        return Finding("broker", "wrong", f"{str(error).strip() or 'no answer'} {CONSEQUENCE}", start)
    return Finding("broker", "ok", "accepts connections")
