"""What no log, error, metric or key in Redis may hold: phones, texts and secrets of the tests."""

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from redis import Redis

PHONE = r"(?<![0-9A-Za-z.-])(?:254|255|256|447|999)[0-9]{9}(?![0-9A-Za-z-])"
"""Phone numbers with the prefixes that tests use; not within an id."""
SECRET = r"(?:smss|ops)_[0-9A-Za-z]{43}|whsec_[0-9A-Za-z+/=]{20}|ey[0-9A-Za-z_-]{20,}\.[0-9A-Za-z_-]{6}\."
"""Secrets of keys and webhooks, and tokens."""


def leaks(text: str, *canaries: str) -> list[str]:
    """The parts of a text that should not be there."""
    found = [match[0] for match in re.finditer(f"{PHONE}|{SECRET}", text)]
    return found + [canary for canary in canaries if canary in text]


def in_logs(folder: Path, *canaries: str) -> list[str]:
    """What should not be in the logs of a folder, each with its file and line."""
    return [
        f"{file.name}: {line[:300]}"
        for file in sorted(folder.rglob("*.log"))
        for line in file.read_text(errors="replace").splitlines()
        if leaks(line, *canaries)
    ]


def in_redis(redis: Redis, *canaries: str) -> list[str]:
    """What should not be in keys and values of Redis."""
    return [found for text in _texts(redis) for found in leaks(text, *canaries)]


def _texts(redis: Redis) -> Iterable[str]:
    for key in redis.scan_iter(count=1000):
        yield str(key)
        yield str(_value(redis, key))


def _value(redis: Redis, key: Any) -> Any:
    read: dict[bytes, Callable[[], Any]] = {
        b"string": lambda: redis.get(key),
        b"list": lambda: redis.lrange(key, 0, -1),
        b"set": lambda: redis.smembers(key),
        b"hash": lambda: redis.hgetall(key),
        b"zset": lambda: redis.zrange(key, 0, -1),
    }
    return read.get(redis.type(key), lambda: None)()
