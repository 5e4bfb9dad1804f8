"""Base class of the tables in CARRIERS_FILE: dataclasses whose fields are validated from TOML."""

import dataclasses
from collections.abc import Mapping
from typing import Any, Literal, Self, get_args, get_origin, get_type_hints

MAX_VALIDITY = 30 * 24 * 3600
LIMITS: dict[str, tuple[float, float]] = {
    "window": (1, 1_000),
    "batch": (1, 1_000),
    "rate": (0, 100_000),
    "response_timeout": (0.1, 600),
    "connect_timeout": (0.1, 60),
    "interval": (1, 3_600),
    "min_validity": (1, 86_400),
    "max_validity": (60, MAX_VALIDITY),
    "port": (1, 65_535),
    "source_ton": (0, 255),
    "source_npi": (0, 255),
    "destination_ton": (0, 255),
    "destination_npi": (0, 255),
    "data_coding": (0, 255),
    "registered_delivery": (0, 31),
    "protocol_id": (0, 255),
    "priority": (0, 3),
    "id_width": (0, 64),
    "receipt_utc_offset": (-14, 14),
    "enquire_link": (0.1, 3_600),
    "max_pdu": (1_024, 1_048_576),
    "message_id_tag": (0x1400, 0x3FFF),
    "pass_tlvs": (0x1400, 0x3FFF),
}
KINDS: dict[Any, str] = {str: "a string", bool: "true or false"}


class ConfigError(ValueError):
    """An invalid setting of a carrier. The message names it and its valid values."""


class Table:
    """A table of the file."""

    @classmethod
    def of(cls, table: Any, where: str = "") -> Self:
        """Create it from a TOML table. Raises ConfigError for missing, unknown and invalid settings."""
        if not isinstance(table, Mapping):
            raise ConfigError(f"{where.rstrip('.')} must be a table")
        hints = get_type_hints(cls)
        fields = {each.name: each for each in dataclasses.fields(cls)}  # type: ignore[arg-type]
        for name in table:
            if name not in fields:
                raise ConfigError(f"there is no setting {where}{name}")
        for name, each in fields.items():
            if each.default is each.default_factory is dataclasses.MISSING and name not in table:
                raise ConfigError(f"{where}{name} is missing")
        return cls(**{name: _validated(hints[name], value, where + name) for name, value in table.items()})


def _validated(kind: Any, value: Any, where: str) -> Any:
    """Validate a value against a type hint and return it."""
    if type(None) in get_args(kind):
        kind = next(each for each in get_args(kind) if each is not type(None))
    if isinstance(kind, type) and issubclass(kind, Table):
        return kind.of(value, f"{where}.")
    if get_origin(kind) is Literal:
        if value not in get_args(kind):
            raise ConfigError(f"{where} must be one of {', '.join(get_args(kind))}, not {value!r}")
    elif kind in (int, float):
        _check_number(kind, value, where)
    elif get_origin(kind) is list:
        if not isinstance(value, list):
            raise ConfigError(f"{where} must be a list")
        return [_validated(get_args(kind)[0], item, where) for item in value]
    elif isinstance(value, Mapping) and len(get_args(kind)) == 2:
        inner = get_args(kind)[1]
        return {key: item if inner is Any else _validated(inner, item, f"{where}.{key}") for key, item in value.items()}
    elif not isinstance(kind, type) or not isinstance(value, kind):
        raise ConfigError(f"{where} must be {KINDS.get(kind, 'a table')}, not {value!r}")
    return value


def _check_number(kind: type, value: Any, where: str) -> None:
    low, high = LIMITS.get(where.rpartition(".")[2], (0, 1_000_000))
    fits = isinstance(value, int) or (kind is float and isinstance(value, float))
    if isinstance(value, bool) or not fits or not low <= value <= high:
        raise ConfigError(f"{where} must be a {'whole ' if kind is int else ''}number from {low:g} to {high:g}")
