"""The service with workers that are bound to simulated SMSCs."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

from tests.harness.house import House, wait_until


@contextlib.contextmanager
def service(folder: Path, carriers: str, workers: int, **settings: str) -> Iterator[House]:
    """The service with that CARRIERS_FILE, its workers bound."""
    file = folder / "carriers.toml"
    file.write_text(carriers)
    made = House(folder, CARRIERS_FILE=str(file), **({"LEASE_SECONDS": "10"} | settings))
    try:
        made.start_api()
        made.start_workers(workers)
        ready = f"SELECT count(DISTINCT worker) = {workers} FROM carrier_report WHERE state = 'ready'"
        wait_until(lambda: made.scalar(ready), 60, "the binds")
        yield made
    finally:
        made.stop()


def phones(count: int, first: int = 254700000000) -> list[str]:
    """So many consecutive phones."""
    return [str(first + number) for number in range(count)]
