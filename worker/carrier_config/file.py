"""Reads CARRIERS_FILE: carriers, routes and rate limits, in TOML.

    [carrier.main]
    kind = "smpp"
    host = "smsc.example.com"
    system_id = "acme"
    password = "$MAIN_PASSWORD"
    prices = { "254" = 0.8, default = 1.5 }

    [carrier.spare]
    kind = "smpp"
    ...

    [[routes]]
    name = "kenya"
    prefixes = ["254"]
    carriers = ["main", "spare"]
    choose = "cheapest"

    [[routes]]
    carriers = ["spare", "main"]

    [[limits]]
    sender = "ACME"
    rate = 10

A string that begins with `$` names an environment variable. If only NAME_FILE is set, the value is read from the file
that it names. So the file needs no secrets. A carrier's other settings depend on its kind.
"""

import os
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Engine

from shared.carriers.config_tables import ConfigError
from shared.carriers.http import HttpConfig
from shared.carriers.http.file import own_settings
from shared.environment import SettingsError, reason
from worker.carrier_config.routing import read_limits, read_prices, read_routes
from worker.carriers.base import Carrier
from worker.carriers.http.driver import HttpCarrier
from worker.carriers.simulator import Simulator
from worker.carriers.smpp.config import SmppConfig
from worker.carriers.smpp.driver import SmppCarrier
from worker.routing.routes import Routes
from worker.sending.next_batches import DEFAULT_SHARE

MARGIN = 3.0
"""Seconds of its lease that a cycle needs besides waiting for responses, so that the lease does not expire."""
NAME = re.compile(r"[a-z][a-z0-9_-]{0,31}")
BUILT_IN = "simulator"


class CarriersError(SettingsError):
    """The file is invalid. Says where and why."""


@dataclass(frozen=True, slots=True)
class Table:
    """A carrier's settings as in the file, and what else a driver may need."""

    name: str
    settings: dict[str, Any]
    lease: float
    engine: Engine | None


@dataclass(frozen=True, slots=True)
class Carriers:
    """The file's contents.

    `routes` is None if there is nothing to choose. `shares` are the carriers' authentication shares, by name.
    """

    carriers: list[Carrier]
    routes: Routes | None
    shares: Mapping[str, float]


def _smpp(table: Table) -> Carrier:
    config = SmppConfig.of({"name": table.name, **table.settings})
    _check_response_timeout(config.response_timeout, table.lease)
    return SmppCarrier(config)


def _http(table: Table) -> Carrier:
    config = HttpConfig.from_mapping(table.name, table.settings)
    _check_response_timeout(config.response_timeout, table.lease)
    return HttpCarrier(config)


def _check_response_timeout(seconds: float, lease: float) -> None:
    if seconds + MARGIN > lease:
        limit = f"at most {lease - MARGIN:g} seconds, {MARGIN:g} less than LEASE_SECONDS ({lease:g})"
        raise ConfigError(f"response_timeout must be {limit}")


SIMULATOR_DEFAULTS = {"rate": 0.0, "window": 400, "receipt_delay": 1.0, "round_trip": 0.0}


def _simulator(table: Table) -> Carrier:
    values = {**SIMULATOR_DEFAULTS, **table.settings}
    unknown = sorted(set(values) - set(SIMULATOR_DEFAULTS))
    if unknown:
        raise ConfigError(f"there is no setting {unknown[0]}")
    for name, value in values.items():
        if isinstance(value, bool) or not isinstance(value, int if name == "window" else (int, float)) or value < 0:
            raise ConfigError(f"{name} must be a number of at least 0, not {value!r}")
    if table.engine is None:
        raise ConfigError("kind: a simulated carrier needs a database")
    return Simulator(table.engine, **values, name=table.name)


KINDS: dict[str, Callable[[Table], Carrier]] = {"smpp": _smpp, "http": _http, "simulator": _simulator}
"""Creates a carrier of each kind from its table. Raises ValueError, whose text begins with the setting's name."""


def read_carriers(
    path: Path, lease: float, engine: Engine | None = None, environ: Mapping[str, str] | None = None
) -> Carriers:
    """The file's carriers, not opened yet, and its routes. `lease` is in seconds. Raises CarriersError."""
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise CarriersError(f"CARRIERS_FILE={path} cannot be read: {reason(error)}.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise CarriersError(f"{path} is not TOML: {error}.") from None
    tables = document.pop("carrier", None)
    if not isinstance(tables, dict) or not tables or not all(isinstance(table, dict) for table in tables.values()):
        raise CarriersError(f"{path} must have a table [carrier.NAME] for each carrier.")
    routes, limits = document.pop("routes", []), document.pop("limits", [])
    if document:
        raise CarriersError(f"{path}: unknown table {next(iter(document))}; use carrier, routes or limits.")
    prices: dict[str, dict[str, float]] = {}
    shares: dict[str, float] = {}
    carriers = []
    for name, table in tables.items():
        try:
            carriers.append(_carrier(name, table, lease, engine, os.environ if environ is None else environ))
            prices[name] = read_prices(table.get("prices", {}))
            shares[name] = _share(table)
        except ValueError as error:
            raise CarriersError(f"{path}: [carrier.{name}]: {error}.") from None
    try:
        several = routes or limits or len(carriers) > 1
        chosen = read_routes(routes, prices, read_limits(limits)) if several else None
    except ValueError as error:
        raise CarriersError(f"{path}: {error}.") from None
    return Carriers(carriers, chosen, shares)


def _carrier(
    name: str, table: dict[str, Any], lease: float, engine: Engine | None, environ: Mapping[str, str]
) -> Carrier:
    if not NAME.fullmatch(name) or name == BUILT_IN:
        raise ConfigError(
            "start the name with a lowercase letter, then up to 31 of a-z, 0-9, - and _; "
            f"{BUILT_IN} is reserved for the built-in carrier"
        )
    kind = table.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        raise ConfigError(f"it needs a kind, one of: {', '.join(KINDS)}")
    return KINDS[kind](Table(name, own_settings(table, environ), lease, engine))


def _share(table: Mapping[str, Any]) -> float:
    share = table.get("authentication_share", DEFAULT_SHARE)
    if isinstance(share, bool) or not isinstance(share, (int, float)) or not 0 <= share <= 1:
        raise ConfigError(f"authentication_share must be a number from 0 to 1, not {share!r}")
    return float(share)
