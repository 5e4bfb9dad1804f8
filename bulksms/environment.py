"""Finds the installation that a command works on: the environment's, or the one that runs in this folder."""

import os
import shlex
from collections.abc import Mapping
from pathlib import Path

from shared.health.installation import Installation as Installation
from shared.settings import SettingsError, from_environment

LOCAL = Path("var") / "env"
"""Written by `bulksms up`, and removed when it ends."""


def find_installation(environ: Mapping[str, str] | None = None, local: Path = LOCAL) -> Installation:
    """The installation to work on. Raises SettingsError, with what to do, if there is none."""
    env = os.environ if environ is None else environ
    if env.get("DATABASE_URL") or env.get("DATABASE_URL_FILE"):
        return Installation(from_environment(env), "the environment", None)
    try:
        values = read_exports(local.read_text())
    except FileNotFoundError:
        raise SettingsError(
            f"DATABASE_URL is not set, and no service runs in this folder (there is no {local}). Start one with"
            " `make run`, change to the folder of a running one, or set DATABASE_URL, REDIS_URL and SECRET_KEY."
        ) from None
    except PermissionError:
        raise SettingsError(f"{local} belongs to another user. Run this as the user who started the service.") from None
    return Installation(from_environment({**env, **values}), str(local), local.parent)


def read_exports(text: str) -> dict[str, str]:
    """Parse the variables of lines such as `export NAME='value'`."""
    values = {}
    for line in text.splitlines():
        for word in shlex.split(line, comments=True):
            name, separator, value = word.partition("=")
            if separator:
                values[name] = value
    return values
