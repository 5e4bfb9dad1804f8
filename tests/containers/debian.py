"""Debian systems made by debootstrap from a mirror: the container engine, and the images that the service is built on.

Each is a folder below var/containers, made once.
"""

import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

MIRROR = "http://deb.debian.org/debian"
ISOLATED = ("unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc")
"""What is mounted or started by such a command ends with it, in whatever way it ends."""


class System(NamedTuple):
    """A Debian system: its release and the packages in it."""

    name: str
    release: str
    packages: tuple[str, ...]


ENGINE = System(
    "engine",
    "trixie",
    ("docker.io", "docker-cli", "docker-compose", "docker-buildx", "iptables", "iproute2", "openssl"),
)
"""Docker with Compose 2, which the commands of the documentation are written for."""


def make_system(system: System, folder: Path, mirror: str) -> Path:
    """The folder of the system, which is made if it is not there. Raises CalledProcessError."""
    root, log, made = (folder / f"{system.name}{end}" for end in ("", ".log", ".made"))
    if made.exists() and made.read_text() == repr(system):
        return root
    made.unlink(missing_ok=True)
    shutil.rmtree(root, ignore_errors=True)
    cache = folder / "packages"
    cache.mkdir(exist_ok=True)
    print(f"Making {system.name} of Debian {system.release} (once; {log}) ...", flush=True)
    packages = ",".join(system.packages)
    command = ["debootstrap", "--variant=minbase", f"--cache-dir={cache.absolute()}", f"--include={packages}"]
    with log.open("w") as output:
        subprocess.run(
            [*ISOLATED, *command, system.release, str(root.absolute()), mirror],
            stdout=output,
            stderr=output,
            check=True,
            timeout=1200,
        )
    made.write_text(repr(system))
    return root
