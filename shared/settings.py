"""Settings of an installation, read once from the environment."""

import math
import os
from base64 import b64decode
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from shared.addresses import MAX_PORT, check_redis_and_broker, database_address
from shared.api_key import Network, networks
from shared.encryption import TextKey
from shared.environment import MIN_KEY_LENGTH, Environment, log_level, switch, web_address
from shared.environment import SettingsError as SettingsError
from shared.lifecycle import LANES, Category
from shared.oidc_settings import OidcSettings, oidc_settings
from shared.unit import CREDITS, Unit, unit_of

N = TypeVar("N", int, float)

MAX_LEASE_SECONDS = 100
"""A lease that ends later is taken for one from before the clock of the database was set back: see LEASE_OVER."""
MAX_REPLICA_LAG = 3_600
"""Seconds. What is older than that is in every replica that is used."""
MAX_DOUBT_GRACE = 365 * 86_400
"""Seconds."""
MAX_RETENTION_DAYS = 3_650
"""For the installation and for an account."""
MAX_NOTICE_DAYS = 365
A_DAY = 86_400
"""Seconds."""
IDEMPOTENCY_DAYS = 8
"""For how long Idempotency-Keys and their responses are stored."""

SIMULATED = "CARRIER=simulator: every message is simulated and reaches no phone."
NO_CARRIER = (
    "No carrier is set. Set CARRIERS_FILE to the file that names your carriers (docs/operating/carriers.md), or"
    " CARRIER=simulator to simulate every message, so that none reaches a phone."
)


@dataclass(frozen=True, slots=True)
class Settings:
    """One installation's settings. Times are in seconds, rates in segments per second."""

    database_url: str
    redis_url: str
    broker_url: str
    secret_key: str
    """Signs tokens, hashes API secrets, and derives webhook secrets."""
    database_pool: int = 8
    replica_url: str = ""
    """A streaming standby that answers reports and exports; without it the primary does."""
    replica_max_lag: float = 30.0
    """Seconds by which the replica may be behind; beyond them the primary answers."""
    broker_queue_type: str = "classic"
    """The type of the queue in RabbitMQ: classic or quorum."""
    eager: bool = False
    """Run tasks in the caller's thread, for quick tests without a broker."""
    carriers_file: str = ""
    """Path of the TOML file with the carriers."""
    simulated: bool = False
    """Whether the simulated carrier was chosen by name, instead of CARRIERS_FILE."""
    simulator_rate: float = 0.0
    """Segments per second of the simulated carrier; 0 is unlimited."""
    simulator_window: int = 400
    simulator_receipt_delay: float = 1.0
    simulator_round_trip: float = 0.0
    """Seconds between a window's submit and its responses."""
    concurrency: int = 2
    """Concurrent cycles of one worker process, each with its share of the window."""
    lease: float = 15.0
    doubt_grace: float = 24 * 3600.0
    """Seconds after its validity until a message in doubt expires and its credits are released."""
    resend_lanes: frozenset[int] = frozenset()
    """Lanes whose messages in doubt, after a crash or without a response, are sent again: some may arrive twice."""
    secret_key_fallbacks: tuple[str, ...] = ()
    """Previous keys, whose tokens, API secrets and webhook secrets still work."""
    guard_file: Path | None = None
    """The file in which workers note the installation's mark, to recognize a restored database."""
    webhook_loopback: bool = False
    """Allow webhooks to this machine, also without TLS. For development."""
    retention_days: int = 0
    """Days after which texts and phones of sends are deleted; 0 keeps them. An account may have its own number."""
    text_keys: tuple[TextKey, ...] = ()
    """Keys for texts in the database: the first encrypts, all decrypt. Without keys texts are not encrypted."""
    metrics_token: str = ""
    """Bearer token of /metrics; without it the path does not exist."""
    metrics_port: int = 0
    """Port on which workers and webhook processes serve their metrics; 0: they do not."""
    metrics_host: str = "127.0.0.1"
    """The address of that port."""
    requests_per_second: int = 10_000
    """Maximum requests per second of one account; per API process while Redis is unavailable."""
    sandbox_requests_per_second: int = 50
    """The same for the test keys of one account, at most the account's."""
    recipient_limits: tuple[int, ...] = (20, 100, 10)
    """Maximum messages to a phone per hour, by lane, for accounts without their own limits; 0 is unlimited."""
    trusted_proxies: tuple[Network, ...] = ()
    """Peers whose X-Forwarded-For header is trusted."""
    token_requests_per_minute: int = 120
    """Maximum failed token requests per minute from one address, in the same way."""
    request_log_sample_rate: float = 0.01
    """Share of successful requests that are logged, with the batches of their sends. Failed ones always are."""
    console_url: str = "http://127.0.0.1:8001"
    """Address of the console, for links to invitations and sign-in."""
    smpp_server: str = ""
    """Host and port of the SMPP server, as customers reach it."""
    price_notice_days: int = 7
    """Days from publishing prices that are higher, or removed, until they are valid."""
    unit: Unit = CREDITS
    """What a credit is worth."""
    oidc: OidcSettings | None = None
    remote_control: bool = False
    """Whether workers obey Celery's remote control (`celery inspect`, `celery control`). It has no authentication."""


DEFAULTS = Settings(database_url="", redis_url="", broker_url="", secret_key="")
"""The defaults of what need not be set."""


def from_environment(environ: Mapping[str, str] | None = None) -> Settings:
    """Settings from environment variables.

    Raises SettingsError naming the variable and the remedy.
    """
    env = Environment(os.environ if environ is None else environ)
    required = {name: env.get(name, "") for name in ("DATABASE_URL", "REDIS_URL", "SECRET_KEY")}
    for name, value in required.items():
        if not value:
            raise SettingsError(
                f"{name} is not set. Set it in the environment of this process; docker-compose.yml takes that from .env"
                " (docs/operating/deployment.md)."
            )
    if len(required["SECRET_KEY"]) < MIN_KEY_LENGTH:
        raise SettingsError(
            f"SECRET_KEY is shorter than {MIN_KEY_LENGTH} characters. Make one with `openssl rand -hex 32`."
        )
    check_redis_and_broker(env)
    log_level(env)
    return Settings(
        database_url=database_address(env, "DATABASE_URL"),
        redis_url=required["REDIS_URL"],
        broker_url=env.get("BROKER_URL") or required["REDIS_URL"],
        secret_key=required["SECRET_KEY"],
        database_pool=_number(env, "DATABASE_POOL", DEFAULTS.database_pool, least=1),
        replica_url=database_address(env, "REPLICA_URL") if env.get("REPLICA_URL") else "",
        replica_max_lag=_number(env, "REPLICA_MAX_LAG", DEFAULTS.replica_max_lag, least=2, most=MAX_REPLICA_LAG),
        broker_queue_type=_queue_type(env.get("BROKER_QUEUE_TYPE", ""), env.get("BROKER_URL", "")),
        eager=switch(env, "CELERY_EAGER"),
        carriers_file=env.get("CARRIERS_FILE", ""),
        simulated=_simulated(env.get("CARRIER", ""), env.get("CARRIERS_FILE", "")),
        simulator_rate=_number(env, "SIMULATOR_RATE", DEFAULTS.simulator_rate),
        simulator_window=_number(env, "SIMULATOR_WINDOW", DEFAULTS.simulator_window, least=1),
        simulator_receipt_delay=_number(env, "SIMULATOR_RECEIPT_DELAY", DEFAULTS.simulator_receipt_delay, most=A_DAY),
        simulator_round_trip=_number(env, "SIMULATOR_ROUND_TRIP", DEFAULTS.simulator_round_trip, most=A_DAY),
        concurrency=_number(env, "WORKER_CONCURRENCY", DEFAULTS.concurrency, least=1),
        lease=_number(env, "LEASE_SECONDS", DEFAULTS.lease, least=1, most=MAX_LEASE_SECONDS),
        doubt_grace=_number(env, "DOUBT_GRACE_SECONDS", DEFAULTS.doubt_grace, most=MAX_DOUBT_GRACE),
        resend_lanes=_lanes(env.get("RESEND_IN_DOUBT", "")),
        secret_key_fallbacks=_fallbacks(env.get("SECRET_KEY_FALLBACKS", ""), required["SECRET_KEY"]),
        guard_file=Path(env["GUARD_FILE"]) if env.get("GUARD_FILE") else None,
        webhook_loopback=switch(env, "WEBHOOK_LOOPBACK"),
        retention_days=_number(env, "RETENTION_DAYS", DEFAULTS.retention_days, most=MAX_RETENTION_DAYS),
        text_keys=_text_keys(env.get("TEXT_KEYS", "")),
        metrics_token=env.get("METRICS_TOKEN", ""),
        metrics_port=_number(env, "METRICS_PORT", DEFAULTS.metrics_port, most=MAX_PORT),
        metrics_host=env.get("METRICS_HOST") or DEFAULTS.metrics_host,
        requests_per_second=_number(env, "REQUESTS_PER_SECOND", DEFAULTS.requests_per_second),
        sandbox_requests_per_second=_number(env, "SANDBOX_REQUESTS_PER_SECOND", DEFAULTS.sandbox_requests_per_second),
        recipient_limits=_recipient_limits(env.get("RECIPIENT_LIMITS", "")),
        trusted_proxies=_networks(env.get("TRUSTED_PROXIES", "")),
        token_requests_per_minute=_number(env, "TOKEN_REQUESTS_PER_MINUTE", DEFAULTS.token_requests_per_minute),
        request_log_sample_rate=_number(env, "REQUEST_LOG_SAMPLE_RATE", DEFAULTS.request_log_sample_rate, most=1),
        console_url=web_address(env, "CONSOLE_URL", DEFAULTS.console_url),
        smpp_server=env.get("SMPP_SERVER", ""),
        price_notice_days=_number(env, "PRICE_NOTICE_DAYS", DEFAULTS.price_notice_days, most=MAX_NOTICE_DAYS),
        unit=unit_of(env.get("UNIT", "")),
        oidc=oidc_settings(env),
        remote_control=switch(env, "CELERY_REMOTE_CONTROL"),
    )


def service_settings(environ: Mapping[str, str] | None = None) -> Settings:
    """Settings for a process that accepts or sends messages.

    Also raises SettingsError if neither CARRIERS_FILE nor CARRIER is set.
    """
    settings = from_environment(environ)
    if not settings.carriers_file and not settings.simulated:
        raise SettingsError(NO_CARRIER)
    return settings


def _queue_type(text: str, broker_url: str) -> str:
    if text not in ("", "classic", "quorum"):
        raise SettingsError(f"BROKER_QUEUE_TYPE is {text!r}; it takes `classic` or `quorum`.")
    if text and "amqp" not in broker_url.partition("://")[0]:
        raise SettingsError(
            "BROKER_QUEUE_TYPE is only for RabbitMQ. Set BROKER_URL to an amqp:// address, or remove it."
        )
    return text or "classic"


def _simulated(carrier: str, carriers_file: str) -> bool:
    if carrier not in ("", "simulator"):
        raise SettingsError(
            f"CARRIER is {carrier!r}; the only value is `simulator`. Your own carriers belong in CARRIERS_FILE."
        )
    if carrier and carriers_file:
        raise SettingsError("CARRIER=simulator and CARRIERS_FILE are both set. Remove one of them.")
    return bool(carrier)


def _fallbacks(text: str, current: str) -> tuple[str, ...]:
    keys = tuple(dict.fromkeys(word.strip() for word in text.split(",") if word.strip()))
    if any(len(key) < MIN_KEY_LENGTH for key in keys):
        raise SettingsError(
            f"SECRET_KEY_FALLBACKS has a key shorter than {MIN_KEY_LENGTH} characters. It takes keys that SECRET_KEY"
            " was before, with commas."
        )
    return tuple(key for key in keys if key != current)


def _networks(text: str) -> tuple[Network, ...]:
    try:
        return networks([word.strip() for word in text.split(",") if word.strip()])
    except ValueError as error:
        raise SettingsError(f"TRUSTED_PROXIES: {error}. It takes networks, separated by commas: 10.0.0.0/8.") from None


def _text_keys(value: str) -> tuple[TextKey, ...]:
    keys = tuple(_text_key(word.strip()) for word in value.split(",")) if value.strip() else ()
    ids = [key.id for key in keys]
    if len(set(ids)) < len(ids) or "" in ids[1:]:
        raise SettingsError("TEXT_KEYS names each key once, and `plain` only in place of the first.")
    return keys


def _text_key(word: str) -> TextKey:
    if word == "plain":
        return TextKey("", b"")
    name, _, encoded = word.partition(":")
    try:
        secret = b64decode(encoded, validate=True)
    except ValueError:
        secret = b""
    if len(secret) != 32 or not (name.isascii() and name.isalnum() and len(name) <= 32):
        raise SettingsError(
            "TEXT_KEYS takes id:key, with commas; an id is up to 32 letters and digits, a key is 32 bytes in base64."
            ' Make one with: echo "k1:$(openssl rand -base64 32)"'
        )
    return TextKey(name, secret)


def _lanes(text: str) -> frozenset[int]:
    categories = [word.strip() for word in text.split(",") if word.strip()]
    unknown = [word for word in categories if word not in LANES]
    if unknown:
        known = ", ".join(LANES)
        raise SettingsError(f"RESEND_IN_DOUBT names {unknown[0]!r}; it takes categories, separated by commas: {known}.")
    return frozenset(LANES.index(Category(word)) for word in categories)


def _recipient_limits(value: str) -> tuple[int, ...]:
    limits = list(DEFAULTS.recipient_limits)
    for word in filter(None, (each.strip() for each in value.split(","))):
        category, _, number = word.partition("=")
        if category not in LANES or not (number.isascii() and number.isdigit()):
            raise SettingsError(
                f"RECIPIENT_LIMITS: {word!r} is not a limit. It takes messages to a phone number per hour by category,"
                " with commas: authentication=20,transactional=100,marketing=10; 0 is unlimited."
            )
        limits[LANES.index(Category(category))] = int(number)
    return tuple(limits)


def _number(env: Mapping[str, str], name: str, default: N, least: float = 0, most: float = math.inf) -> N:
    text = env.get(name, "")
    try:
        value = type(default)(text) if text else default
        if isinstance(value, float) and not math.isfinite(value):
            raise ValueError
    except ValueError:
        raise SettingsError(f"{name} is {text!r}, which is not a number. Example: {name}={default}") from None
    if not least <= value <= most:
        limit = f"at least {least}" if most == math.inf else f"between {least} and {most}"
        raise SettingsError(f"{name} is {text}, and must be {limit}. Example: {name}={default}")
    return value
