"""Which installation a command is about: the environment's, or else the one that runs in this folder."""

import os
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from shared.settings import Settings, SettingsError, from_environment

LOCAL = Path("var") / "env"
"""Written by `bulksms up` for as long as it runs."""


class Installation(NamedTuple):
    """An installation's settings, where they come from, and the folder of its data when it is on this machine."""

    settings: Settings
    source: str
    data: Path | None


def find_installation(environ: Mapping[str, str] | None = None, local: Path = LOCAL) -> Installation:
    """The installation to work on. Raises SettingsError, saying what to do, when there is none."""
    env = os.environ if environ is None else environ
    if env.get("DATABASE_URL") or env.get("DATABASE_URL_FILE"):
        return Installation(from_environment(env), "the environment", None)
    try:
        values = read_exports(local.read_text())
    except FileNotFoundError:
        raise SettingsError(
            f"DATABASE_URL is not set, and no service runs in this folder (there is no {local}). Start one with"
            " `make run`, go to the folder of the one that runs, or set DATABASE_URL, REDIS_URL and SECRET_KEY."
        ) from None
    except PermissionError:
        raise SettingsError(f"{local} belongs to another user. Run this as the user who started the service.") from None
    return Installation(from_environment({**env, **values}), str(local), local.parent)


def read_exports(text: str) -> dict[str, str]:
    """The variables of lines such as `export NAME='value'`."""
    values = {}
    for line in text.splitlines():
        for word in shlex.split(line, comments=True):
            name, separator, value = word.partition("=")
            if separator:
                values[name] = value
    return values
