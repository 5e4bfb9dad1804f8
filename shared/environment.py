"""Environment variables, each of which may also be read from a file: NAME, or NAME_FILE with the file's path.

So secrets can be files that Docker, Kubernetes or systemd provides, and need not be in the environment.
"""

import logging
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import urlsplit

MIN_KEY_LENGTH = 32
"""Characters of a key that secrets are derived from."""


class SettingsError(RuntimeError):
    """A setting is missing or invalid. The message names it and says what to do."""


class Environment(Mapping[str, str]):
    """Environment variables; those not set are read from the file that NAME_FILE names.

    >>> Environment({"SECRET_KEY_FILE": "/run/secrets/secret_key"})["SECRET_KEY"]

    An empty variable counts as not set. Raises SettingsError if a file cannot be read.
    """

    def __init__(self, variables: Mapping[str, str]) -> None:
        self._variables = variables

    def __getitem__(self, name: str) -> str:
        path = self._variables.get(f"{name}_FILE", "")
        if self._variables.get(name) or not path:
            return self._variables[name]
        try:
            return Path(path).read_text().strip()
        except (OSError, UnicodeDecodeError) as error:
            raise SettingsError(f"{name}_FILE={path} cannot be read: {reason(error)}.") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._variables)

    def __len__(self) -> int:
        return len(self._variables)


def reason(error: OSError | UnicodeDecodeError) -> str:
    """Why a file cannot be read, in a few words, with the remedy if only its mode is wrong."""
    if isinstance(error, PermissionError):
        return "permission denied. Make it readable for the user that the service runs as"
    return (error.strerror if isinstance(error, OSError) else str(error)) or str(error)


def switch(env: Mapping[str, str], name: str) -> bool:
    """Whether the setting is on: `1` is on; `0`, or nothing, is off. Raises SettingsError for anything else."""
    text = env.get(name, "").strip()
    if text not in ("", "0", "1"):
        raise SettingsError(f"{name} is {text!r}; it takes `1` for on, and `0` or nothing for off.")
    return text == "1"


def web_address(env: Mapping[str, str], name: str, default: str) -> str:
    """The address of a web server, without a slash at its end. Raises SettingsError, which does not repeat it."""
    address = (env.get(name, "") or default).rstrip("/")
    try:
        parts = urlsplit(address)
        is_complete = bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_complete = False
    if not (is_complete and address.startswith(("http://", "https://"))):
        raise SettingsError(
            f"{name} is not an address: http:// or https://, a host, and perhaps a port. Example: {name}={default}"
        )
    return address


def log_level(env: Mapping[str, str]) -> str:
    """The name of the level in LOG_LEVEL, written in any case; INFO if it is not set. Raises SettingsError."""
    text = env.get("LOG_LEVEL", "")
    level = text.strip().upper() or "INFO"
    if level not in logging.getLevelNamesMapping():
        raise SettingsError(f"LOG_LEVEL is {text!r}; it takes DEBUG, INFO, WARNING, ERROR or CRITICAL.")
    return level


def driver_url(url: str, name: str = "DATABASE_URL") -> str:
    """The URL of a database with the driver's name, for SQLAlchemy. Accepts `postgres://` too.

    Raises SettingsError for other URLs, which calls the setting by its name.
    """
    scheme, separator, rest = url.partition("://")
    if scheme not in ("postgres", "postgresql", "postgresql+psycopg") or not separator:
        raise SettingsError(f"{name} must begin with postgresql://. Postgres 15 or newer is the only database.")
    return f"postgresql+psycopg://{rest}"
