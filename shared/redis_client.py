"""Clients of Redis, and the broker's address for Celery: one server, or one that Sentinel finds.

    redis://:password@host:6379/0
    sentinel://:password@host1:26379,host2:26379,host3:26379/0?master_name=bulksms

With Sentinel, each new connection asks for the primary. `sentinel_password` is for Sentinels that want one.
"""

import re
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from redis import Redis
from redis.sentinel import Sentinel

SENTINEL = "sentinel"
SENTINEL_PORT = 26379
EXAMPLE = "sentinel://:password@host1:26379,host2:26379,host3:26379/0?master_name=bulksms"
ASK_SECONDS = 0.5
"""Timeout of asking one Sentinel. They are asked one after the other."""
CELERY_CERT_REQS = re.compile(r"(?<=[?&]ssl_cert_reqs=)CERT_(?:NONE|OPTIONAL|REQUIRED)(?=&|\Z)")
"""Celery's spelling of an option, which redis-py spells `none`, `optional` or `required`. Celery knows both."""


class SentinelAddress(NamedTuple):
    """The parts of a sentinel:// URL."""

    sentinels: list[tuple[str, int]]
    master_name: str
    username: str | None
    password: str | None
    database: int
    sentinel_password: str | None

    @property
    def sentinel_options(self) -> dict[str, Any]:
        """Options of the connections to the Sentinels themselves."""
        timeouts = {"socket_timeout": ASK_SECONDS, "socket_connect_timeout": ASK_SECONDS}
        return timeouts | ({"password": self.sentinel_password} if self.sentinel_password else {})


def is_redis(url: str) -> bool:
    """Whether a broker's URL leads to Redis."""
    return url.startswith(("redis", SENTINEL))


def sentinel_address(url: str) -> SentinelAddress:
    """The parts of a sentinel:// URL. Raises ValueError with what is wrong."""
    try:
        parts = urlsplit(url)
    except ValueError:  # which would repeat it
        raise ValueError("its hosts are invalid") from None
    userinfo, _, hosts = parts.netloc.rpartition("@")
    username, _, password = userinfo.partition(":")
    options = dict(parse_qsl(parts.query))
    master_name, sentinel_password = options.pop("master_name", ""), options.pop("sentinel_password", None)
    if not master_name:
        raise ValueError("it names no `master_name`")
    if options:
        raise ValueError("it has an option other than `master_name` and `sentinel_password`")  # perhaps of a password
    database = parts.path.strip("/") or "0"
    if not (database.isascii() and database.isdigit()):
        raise ValueError("its path is not the number of a database")
    sentinels = [_host_and_port(host) for host in hosts.split(",")]
    return SentinelAddress(
        sentinels, master_name, unquote(username) or None, unquote(password) or None, int(database), sentinel_password
    )


def redis_client(url: str, timeout: float, **options: Any) -> Redis:
    """A client with `timeout` seconds for connecting and for each answer. With Sentinel, it follows the primary."""
    options |= {"socket_timeout": timeout, "socket_connect_timeout": timeout}
    if not url.startswith(SENTINEL):
        return Redis.from_url(CELERY_CERT_REQS.sub(lambda found: found[0][5:].lower(), url), **options)
    address = sentinel_address(url)
    sentinel = Sentinel(address.sentinels, sentinel_kwargs=address.sentinel_options)  # type: ignore[no-untyped-call]
    login = {"username": address.username, "password": address.password, "db": address.database}
    client: Redis = sentinel.master_for(address.master_name, **login, **options)  # type: ignore[no-untyped-call]
    return client


def celery_broker(url: str) -> tuple[str, dict[str, Any]]:
    """The broker's URL as Celery takes it, and the transport options that belong to it."""
    if not url.startswith(SENTINEL):
        return url, {}
    address = sentinel_address(url)
    login = f"{quote(address.username or '', safe='')}:{quote(address.password or '', safe='')}@"
    hosts = [f"[{host}]:{port}" if ":" in host else f"{host}:{port}" for host, port in address.sentinels]
    each = [f"{SENTINEL}://{login}{host}/{address.database}" for host in hosts]
    return ";".join(each), {"master_name": address.master_name, "sentinel_kwargs": address.sentinel_options}


def _host_and_port(text: str) -> tuple[str, int]:
    try:
        parts = urlsplit(f"//{text}")
        host, port = parts.hostname, parts.port
    except ValueError:  # which would repeat a part of the address, perhaps of its password
        raise ValueError("the host or port of a Sentinel is invalid") from None
    if not host:
        raise ValueError("it names no Sentinel")
    return host, port or SENTINEL_PORT
