"""Finds the installation that a command works on: the environment's, or the one that runs in this folder."""

import os
import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import click
from sqlalchemy import Connection, Engine

from bulksms.output import NotPrinted, messages
from shared.accounts.administration import find_account
from shared.db.connection import make_engine
from shared.encryption import Texts
from shared.health.finding import Installation as Installation
from shared.settings import SettingsError, from_environment

LOCAL = Path("var") / "env"
"""Written by `bulksms up`, and removed when it ends."""
NOWHERE = "postgresql+psycopg://"
"""The URL of an engine that is never connected: to check a CARRIERS_FILE without a database."""


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


def installation() -> Installation:
    """The installation to work on. Prints a note if its settings come from the current folder."""
    target = find_installation()
    if target.data is not None:
        messages().print(f"[dim]Settings from {target.source}[/dim]")
    return target


@contextmanager
def engine_of(target: Installation) -> Iterator[Engine]:
    """An engine on the installation's database, disposed of at the end of the block."""
    texts = Texts(target.settings.text_keys)
    engine = make_engine(target.settings.database_url, pool=2, application="bulksms-cli", texts=texts)
    try:
        yield engine
    finally:
        engine.dispose()


@contextmanager
def database(target: Installation | None = None) -> Iterator[Connection]:
    """One transaction in the installation's database, committed at the end of the block.

    Print in the block what is shown only once, or must not be repeated: if it cannot be printed, nothing is changed.
    """
    with engine_of(target or installation()) as engine:
        try:
            with engine.begin() as connection:
                yield connection
        except (NotPrinted, BrokenPipeError) as error:
            reason = error.message if isinstance(error, NotPrinted) else NotPrinted("nobody reads it").message
            raise click.ClickException(f"{reason} Nothing was changed.") from error


@contextmanager
def of_account(account: str) -> Iterator[tuple[Connection, int]]:
    """As `database`, with the id of the account that ACCOUNT names. Raises Refused if there is none."""
    with database() as connection:
        yield connection, find_account(connection, account)
