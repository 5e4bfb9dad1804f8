"""Health check of this machine's webhook processes: `python -m worker.webhooks.health` exits with 0 if one is alive."""

import os
import sys
from socket import gethostname

import psycopg

from shared.environment import Environment, SettingsError, driver_url

ALIVE = "SELECT EXISTS (SELECT FROM lease WHERE starts_with(name, %s) AND held_until > clock_timestamp())"
"""Whether a process has renewed its lease in time, of those whose leases begin with a prefix."""


def prefix() -> str:
    """The prefix of the names of this machine's leases."""
    return f"webhooks:{gethostname()}:"


def main() -> None:
    """Look for a current lease in the database. Processes renew theirs every two seconds."""
    try:
        url = driver_url(Environment(os.environ).get("DATABASE_URL", ""))
        url = url.replace("postgresql+psycopg://", "postgresql://", 1)
        with psycopg.connect(url, connect_timeout=3) as connection:
            row = connection.execute(ALIVE, (prefix(),)).fetchone()
    except (SettingsError, psycopg.Error) as error:
        sys.exit(str(error))
    if not (row and row[0]):
        sys.exit("No webhook process on this host has reported for 10 seconds. Is it running?")


if __name__ == "__main__":
    main()
