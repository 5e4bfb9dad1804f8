"""Environment variables, each of which may also be read from a file: NAME, or NAME_FILE with the file's path.

So secrets can be files that Docker, Kubernetes or systemd provides, and need not be in the environment.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

OLD_NAMES = {"WORKER_CONCURRENCY": "WORKER_TURNS"}
"""Names before 0.2.0, which are read if the new ones are not set."""
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
        if not self._variables.get(name) and self._variables.get(old := OLD_NAMES.get(name, "")):
            return self._variables[old]
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


def driver_url(url: str, name: str = "DATABASE_URL") -> str:
    """The URL of a database with the driver's name, for SQLAlchemy. Accepts `postgres://` too.

    Raises SettingsError for other URLs, which calls the setting by its name.
    """
    scheme, separator, rest = url.partition("://")
    if scheme not in ("postgres", "postgresql", "postgresql+psycopg") or not separator:
        raise SettingsError(f"{name} must begin with postgresql://. Postgres 15 or newer is the only database.")
    return f"postgresql+psycopg://{rest}"
