"""var/env: what the service runs with, for commands in another terminal."""

import os
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path

from sqlalchemy import create_engine

from bulksms.environment import NOWHERE
from bulksms.local.files import write_private
from shared.environment import Environment
from shared.settings import from_environment
from worker.carrier_config.file import read_carriers


class RecordingMapping(Mapping[str, str]):
    """Variables that note which of them are read, with their values."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        self._variables = variables
        self.values_read: dict[str, str] = {}

    def __getitem__(self, name: str) -> str:
        value = self._variables[name]
        self.values_read[name] = value
        return value

    def __iter__(self) -> Iterator[str]:
        return iter(self._variables)

    def __len__(self) -> int:
        return len(self._variables)


def settings_in_use(values: Mapping[str, str]) -> dict[str, str]:
    """These values, and what the environment adds: other settings, and what the carriers file names.

    The value of NAME_FILE is the file's content, as NAME. Raises SettingsError if the settings or the carriers file
    cannot be used.
    """
    recorded = RecordingMapping(Environment({**os.environ, **values}))
    settings = from_environment(recorded)
    if settings.carriers_file:
        read_carriers(Path(settings.carriers_file), settings.lease, create_engine(NOWHERE), recorded)
    found = {**recorded.values_read, **values}
    return {name: value for name, value in found.items() if not _is_path_of_another(name, found)}


def _is_path_of_another(name: str, found: Mapping[str, str]) -> bool:
    return name.endswith("_FILE") and name.removesuffix("_FILE") in found


def write_exports(path: Path, values: Mapping[str, str]) -> None:
    """Write them as shell commands, readable only by the owner."""
    write_private(path, "".join(f"export {name}={shlex.quote(value)}\n" for name, value in values.items()))
