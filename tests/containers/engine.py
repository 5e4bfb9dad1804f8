"""Docker with Compose, as a reader of the documentation uses it: a shell in the project's folder."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any


class Failed(AssertionError):
    """A command that ended with another code than 0; says what it printed."""


class Engine:
    """The machine's own Docker. Compose names its objects after the project's folder."""

    def __init__(self, project: Path, **env: str) -> None:
        self._project, self._env = project, {**os.environ, **env}

    def shell(self, command: str, seconds: float = 300) -> str:
        """Run a command in the project's folder. Returns what it wrote to standard output. Raises Failed."""
        done = self._run(command, seconds)
        if done.returncode:
            logs = self._run("docker compose logs --no-color --tail 20", 60).stdout
            output = "\n".join((done.stdout[-3000:], done.stderr[-3000:], logs))
            raise Failed(f"`{command}` ended with {done.returncode}:\n{output}")
        return done.stdout

    def _run(self, command: str, seconds: float) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["sh", "-euc", command],
            cwd=self._project,
            env=self._env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )

    def containers(self, service: str) -> list[dict[str, Any]]:
        """What Docker knows of the running containers of a service."""
        ids = self.shell(f"docker compose ps --quiet {service}").split()
        return list(json.loads(self.shell(f"docker inspect {' '.join(ids)}"))) if ids else []

    def remove(self) -> None:
        """Take away the containers, their networks and what they stored."""
        self._run("docker compose down --volumes", 300)
