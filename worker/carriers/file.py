"""CARRIERS_FILE: the carrier that messages go to, in TOML.

    [carrier.main]
    driver = "smpp"
    host = "smsc.example.com"
    system_id = "acme"
    password = "$MAIN_PASSWORD"

A text that begins with `$` names a variable of the environment, so that no secret stands in the file. The other
settings are those of `SmppConfig`.
"""

import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from worker.carriers.base import Carrier
from worker.carriers.smpp.config import ConfigError, SmppConfig
from worker.carriers.smpp.driver import SmppCarrier

MARGIN = 3.0
"""Seconds that a turn needs of its lease beside waiting for answers; without a lease it would be taken for dead."""
DRIVERS = ("smpp",)
SETTING = re.compile(r"\s*([A-Za-z0-9_-]+)\s*=")


class CarriersError(RuntimeError):
    """The file cannot be used. Says where and why."""


def read_carrier(path: Path, lease: float, environ: Mapping[str, str] | None = None) -> Carrier:
    """The driver of the file's carrier, not opened yet. `lease` is a turn's, in seconds. Raises CarriersError."""
    try:
        source = path.read_text()
        told = tomllib.loads(source)
    except OSError as error:
        raise CarriersError(f"CARRIERS_FILE={path} cannot be read: {error.strerror}.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise CarriersError(f"{path} is not TOML: {error}.") from None
    carriers = told.get("carrier")
    if not isinstance(carriers, dict) or len(carriers) != 1 or len(told) != 1:
        raise CarriersError(f"{path} must have one table [carrier.NAME], and nothing else.")
    ((name, settings),) = carriers.items()
    return _driver(path, source, name, settings, lease, os.environ if environ is None else environ)


def _driver(path: Path, source: str, name: str, settings: Any, lease: float, environ: Mapping[str, str]) -> Carrier:
    values = dict(settings) if isinstance(settings, dict) else {}
    driver = values.pop("driver", None)
    if driver not in DRIVERS:
        raise CarriersError(f"{path}: [carrier.{name}] needs a driver, one of: {', '.join(DRIVERS)}.")
    try:
        values = {key: _from_environment(key, value, environ) for key, value in values.items()}
        config = SmppConfig.from_mapping({"name": name, **values})
        if config.answer_time + MARGIN > lease:
            most = f"at most {lease - MARGIN:g} seconds, as a turn's lease is {lease:g} (LEASE_SECONDS)"
            raise ConfigError(f"answer_time: {most}")
        return SmppCarrier(config)
    except ConfigError as error:
        line = _line_of(source, str(error))
        raise CarriersError(f"{path}{f', line {line}' if line else ''}: [carrier.{name}]: {error}.") from None


def _from_environment(key: str, value: Any, environ: Mapping[str, str]) -> Any:
    if not isinstance(value, str) or not value.startswith("$"):
        return value
    if not environ.get(value[1:]):
        raise ConfigError(f"{key}: the environment has no {value[1:]}; set it, or write the value itself")
    return environ[value[1:]]


def _line_of(source: str, error: str) -> int | None:
    """The line, from 1, of the setting that an error names."""
    for number, line in enumerate(source.splitlines(), 1):
        match = SETTING.match(line)
        if match and re.search(rf"\b{re.escape(match[1])}\b", error):
            return number
    return None
