"""What stands in for the images that Dockerfile and docker-compose.yml take from a registry."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import yaml

from tests.containers.debian import System

HERE = Path(__file__).parent
WHEELS = "/wheels"


class Image(NamedTuple):
    """An image made of a Debian system, with files of ours in it, and what it tells Docker."""

    system: System
    changes: tuple[str, ...] = ()
    files: tuple[tuple[Path, str], ...] = ()
    """Paths here, and in the image."""


IMAGES = {
    "python:3.11-slim": Image(
        System("python", "bookworm", ("python3", "python3-venv", "python3-pip", "python-is-python3")),
        # A build has no network: the packages of the lock files lie in the image. Debian's pip leaves its system alone.
        (f"ENV PIP_NO_INDEX=1 PIP_FIND_LINKS={WHEELS} PIP_BREAK_SYSTEM_PACKAGES=1",),
    ),
    "postgres:16": Image(
        System("postgres", "bookworm", ("postgresql",)),
        (
            "ENV PATH=/usr/lib/postgresql/15/bin:/usr/local/bin:/usr/bin:/bin",
            'ENTRYPOINT ["sh", "/entrypoint.sh"]',
            "STOPSIGNAL SIGINT",
        ),
        ((HERE / "postgres.sh", "/entrypoint.sh"),),
    ),
    "redis:7": Image(System("redis", "bookworm", ("redis-server",))),
    "nginx:1.28-alpine": Image(System("nginx", "bookworm", ("nginx", "wget"))),
}
"""By the name that the files give them."""


def taken_from_registry(dockerfile: str, compose: str) -> set[str]:
    """The images that the two files name and do not build."""
    stages = set(re.findall(r"^FROM \S+ AS (\S+)", dockerfile, re.M))
    bases = set(re.findall(r"^FROM (\S+)", dockerfile, re.M)) - stages - {"scratch"}
    services = yaml.safe_load(compose)["services"].values()
    built = {service["image"] for service in services if "build" in service}
    return bases | {service["image"] for service in services} - built


def archive(image: Image, root: Path, wheels: Path) -> Iterator[bytes]:
    """The image's files as a tar archive, in parts. Raises CalledProcessError."""
    command = [
        "tar",
        "--create",
        "--exclude=./var/cache/apt",
        "--exclude=./var/lib/apt/lists",
        f"--directory={root}",
        ".",
    ]
    for path, _ in image.files:
        command += [f"--directory={path.parent}", path.name]
    command += [f"--transform=s|^{path.name}$|.{inside}|" for path, inside in image.files]
    if image.system.name == "python":
        command += [f"--directory={wheels.parent}", wheels.name]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        while part := process.stdout.read(2**20):
            yield part
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
