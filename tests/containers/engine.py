"""A Docker engine of its own: dockerd in the root of a Debian system, in the namespaces of this process.

This process must be alone in its namespaces for mounts, processes and the network: when it ends, however it ends, the
kernel ends the daemon and the containers and removes their mounts and networks.
"""

import json
import subprocess
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

PROJECT = "/srv/bulksms"
"""Where the engine and its clients see the project's folder. Compose names its objects after it."""
START_SECONDS = 60.0
START = f"""
root=$1
project=$2
shift 2
mount --bind "$root" "$root"
cd "$root"
mount --types proc proc proc
mount --types sysfs sysfs sys
mount --rbind /sys/fs/cgroup sys/fs/cgroup
mount --rbind /dev dev
mkdir --parents .{PROJECT} var/lib/docker
mount --bind "$project" .{PROJECT}
for folder in run tmp var/lib/docker; do mount --types tmpfs tmpfs "$folder"; done
pivot_root . mnt
umount --lazy /mnt
ip link set lo up
exec "$@"
"""
"""Makes the system's root that of the mount namespace, since `docker exec` would be in this one's otherwise.

What Docker stores is in memory.
"""


class Failed(AssertionError):
    """A command that ended with another code than 0; says what it printed."""


class Engine:
    """The daemon, and a shell beside it in the project's folder.

    `root` is the system's root, and `project` the project's folder.
    """

    def __init__(self, root: Path, project: Path, log: Path, cgroup: str, **env: str) -> None:
        self._env = {"PATH": "/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", **env}
        self._log = log
        with log.open("w") as output:
            command = [
                "unshare",
                "--mount",
                "sh",
                "-euc",
                START,
                "start",
                str(root.absolute()),
                str(project.absolute()),
            ]
            command += ["dockerd", f"--cgroup-parent=/{cgroup}"]
            self._daemon = subprocess.Popen(command, env=self._env, stdout=output, stderr=output)
        self._inside = ["nsenter", f"--mount=/proc/{self._daemon.pid}/ns/mnt"]
        self._wait()

    def _wait(self) -> None:
        """Wait until the daemon answers. Raises Failed."""
        deadline = time.monotonic() + START_SECONDS
        while self._run("docker version", 30).returncode:
            if self._daemon.poll() is not None or time.monotonic() > deadline:
                raise Failed(f"dockerd does not start:\n{self._log.read_text()[-2000:]}")
            time.sleep(0.5)

    def shell(self, command: str, seconds: float = 300) -> str:
        """Run a command in the project's folder. Returns what it wrote to standard output. Raises Failed."""
        done = self._run(command, seconds)
        if done.returncode:
            logs = (
                self._run("docker compose logs --no-color --tail 20", 60).stdout if command.startswith("docker") else ""
            )
            output = "\n".join((done.stdout[-3000:], done.stderr[-3000:], logs))
            raise Failed(f"`{command}` ended with {done.returncode}:\n{output}")
        return done.stdout

    def _run(self, command: str, seconds: float) -> subprocess.CompletedProcess[str]:
        inside = [*self._inside, "sh", "-euc", f"cd {PROJECT}\n{command}"]
        return subprocess.run(
            inside,
            env=self._env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )

    def load(self, image: str, changes: Iterable[str], archive: Iterable[bytes]) -> None:
        """Make an image of a tar archive. Raises Failed."""
        options = [word for change in changes for word in ("--change", change)]
        command = [*self._inside, "docker", "import", *options, "-", image]
        with subprocess.Popen(command, env=self._env, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:
            assert process.stdin is not None
            for part in archive:
                process.stdin.write(part)
        if process.returncode:
            raise Failed(f"{image} could not be made")

    def containers(self, service: str) -> list[dict[str, Any]]:
        """What Docker knows of the running containers of a service."""
        ids = self.shell(f"docker compose ps --quiet {service}").split()
        return list(json.loads(self.shell(f"docker inspect {' '.join(ids)}"))) if ids else []
