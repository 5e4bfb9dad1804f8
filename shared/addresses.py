"""Checks the addresses of the servers that an installation uses: Postgres, Redis and the broker.

An address that no process can ever use would otherwise look like a server that is down. Errors do not repeat addresses,
because they contain passwords: not even an unknown option, which may be a part of one.
"""

from collections.abc import Mapping
from urllib.parse import urlsplit

import psycopg
from psycopg.conninfo import make_conninfo
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError

from shared.environment import SettingsError, driver_url
from shared.redis_client import EXAMPLE, SENTINEL, redis_client, sentinel_address

SCHEMES = {
    "REDIS_URL": ("redis", "rediss", "sentinel"),
    "BROKER_URL": ("redis", "rediss", "sentinel", "amqp", "amqps", "pyamqp"),
}
"""Allowed schemes."""
MAX_PORT = 65_535
CHECK = "check its host, its port and its options, and write special characters of its password as %XX"


def database_address(env: Mapping[str, str], name: str) -> str:
    """The address of a database, for SQLAlchemy. Raises SettingsError if it cannot be one."""
    address = driver_url(env.get(name, ""), name)
    try:
        url = make_url(address)
        arguments, parameters = url.get_dialect()().create_connect_args(url)
        ports = str(parameters.get("port", "")).split(",")  # one for each host; an empty one is the default
        if not all(1 <= int(port) <= MAX_PORT for port in ports if port):
            raise ValueError
        make_conninfo(*arguments, **parameters)
    except (ValueError, ArgumentError, psycopg.Error):
        raise SettingsError(f"{name} is not an address of Postgres: {CHECK}.") from None
    return address


def check_redis_and_broker(env: Mapping[str, str]) -> None:
    """Raise SettingsError if the addresses of Redis or the broker are not supported, or cannot be ones."""
    for name, schemes in SCHEMES.items():
        url = env.get(name, "")
        scheme, separator, _ = url.partition("://")
        if not scheme:
            continue
        if not (separator and scheme in schemes):
            known = ", ".join(f"{each}://" for each in schemes)
            begins = f"begins with {scheme}://" if separator else "is not a URL"
            raise SettingsError(f"{name} {begins}; it takes {known}.")
        if scheme == SENTINEL:
            _check_sentinel(name, url)
        elif scheme.startswith("redis"):
            _check_redis(name, url)
        else:
            _check_rabbitmq(name, url)


def _check_sentinel(name: str, url: str) -> None:
    try:
        sentinel_address(url)
    except ValueError as error:
        raise SettingsError(f"{name} is not an address of Sentinel: {error}. Example: {EXAMPLE}") from None


def _check_redis(name: str, url: str) -> None:
    """Make a connection without opening it, which finds unknown options too."""
    try:
        redis_client(url, timeout=1).connection_pool.make_connection()
    except Exception:  # redis-py raises many types for options, AttributeError and UnboundLocalError among them
        raise SettingsError(f"{name} is not an address of Redis: {CHECK}.") from None


def _check_rabbitmq(name: str, url: str) -> None:
    """Several nodes have semicolons between them."""
    try:
        for node in url.split(";"):
            urlsplit(node).port  # noqa: B018 - raises ValueError if it is no number
    except ValueError:
        raise SettingsError(f"{name} is not an address of RabbitMQ: {CHECK}.") from None
