"""Tells whether this machine's process posts events: `python -m worker.webhooks.health` ends with 0 if it does."""

import sys
from socket import gethostname

import psycopg

from shared.environment import SettingsError
from shared.settings import from_environment

ALIVE = "SELECT EXISTS (SELECT FROM lease WHERE starts_with(name, %s) AND held_until > clock_timestamp())"


def prefix() -> str:
    """How the leases of this machine's processes begin."""
    return f"webhooks:{gethostname()}:"


def main() -> None:
    """Ask the database, where the process reports every two seconds."""
    try:
        url = from_environment().database_url.replace("postgresql+psycopg://", "postgresql://", 1)
        with psycopg.connect(url, connect_timeout=3) as connection:
            row = connection.execute(ALIVE, (prefix(),)).fetchone()
    except (SettingsError, psycopg.Error) as error:
        sys.exit(str(error))
    if not (row and row[0]):
        sys.exit("The process that posts to webhooks has not reported for 10 seconds.")


if __name__ == "__main__":
    main()
