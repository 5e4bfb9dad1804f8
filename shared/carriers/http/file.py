"""The HTTP carriers of CARRIERS_FILE, which the API needs to authenticate their callbacks."""

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from shared.carriers.config_tables import ConfigError
from shared.carriers.http.config import HttpConfig
from shared.environment import Environment, SettingsError, reason

COMMON_SETTINGS = frozenset({"kind", "prices", "authentication_share"})
"""Settings of every carrier, whatever its kind."""


def http_carriers(file: str, environ: Mapping[str, str] | None = None) -> dict[str, HttpConfig]:
    """Read the HTTP carriers of a file, by name; empty without a file. Raises SettingsError if one is invalid."""
    if not file:
        return {}
    try:
        document = tomllib.loads(Path(file).read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise SettingsError(f"CARRIERS_FILE={file} cannot be read: {reason(error)}.") from None
    except ValueError as error:
        raise SettingsError(f"CARRIERS_FILE={file} is not TOML: {error}.") from None
    tables = document.get("carrier")
    carriers = {}
    for name, table in tables.items() if isinstance(tables, dict) else ():
        if not isinstance(table, dict):
            continue
        try:
            if table.get("kind") == "http":
                settings = own_settings(table, os.environ if environ is None else environ)
                carriers[name] = HttpConfig.from_mapping(name, settings)
        except ConfigError as error:
            raise SettingsError(f"{file}: [carrier.{name}]: {error}.") from None
    return carriers


def own_settings(table: Mapping[str, Any], environ: Mapping[str, str]) -> dict[str, Any]:
    """The settings of a carrier's table that depend on its kind. Raises ConfigError.

    A string that begins with `$` names an environment variable.
    """
    own = {key: value for key, value in table.items() if key not in COMMON_SETTINGS}
    return {key: _from_environment(key, value, environ) for key, value in own.items()}


def _from_environment(where: str, value: Any, environ: Mapping[str, str]) -> Any:
    if isinstance(value, dict):
        return {key: _from_environment(f"{where}.{key}", item, environ) for key, item in value.items()}
    if isinstance(value, list):
        return [_from_environment(where, item, environ) for item in value]
    if not isinstance(value, str) or not value.startswith("$"):
        return value
    secret = Environment(environ).get(value[1:])
    if not secret:
        raise ConfigError(f"{where}: the environment has no {value[1:]}; set it, or put the value in the file")
    return secret
