"""The packages of the lock files as wheels, from the index that pip is configured with."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from packaging.requirements import Requirement

LOCKS = ("requirements-server.lock", "requirements-docs.lock")
ENVIRONMENT = "import json; from pip._vendor.packaging.markers import default_environment as f; print(json.dumps(f()))"


def fetch_wheels(folder: Path, python: Path) -> Path:
    """The folder of the wheels that the Python of a Debian system would install. Raises CalledProcessError."""
    wheels = folder / "wheels"
    run = ["chroot", str(python), "python3", "-c", ENVIRONMENT]
    environment = json.loads(subprocess.run(run, check=True, capture_output=True, text=True, timeout=60).stdout)
    for name in LOCKS:
        wanted, fetched = "\n".join(_applying(Path(name).read_text(), environment)), folder / name
        if fetched.exists() and fetched.read_text() == wanted:
            continue
        print(f"Fetching the packages of {name} ...", flush=True)
        requirements = folder / f"{name}.new"
        requirements.write_text(wanted)
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "-qq", "--require-hashes"]
        version = ["--only-binary=:all:", "--implementation=cp", f"--python-version={environment['python_version']}"]
        command = [
            *pip,
            *version,
            "--no-deps",
            f"--find-links={wheels}",
            f"--dest={wheels}",
            f"--requirement={requirements}",
        ]
        wheels.mkdir(exist_ok=True)
        subprocess.run(command, check=True, timeout=1200)
        requirements.rename(fetched)
    return wheels


def _applying(lock: str, environment: dict[str, str]) -> Iterator[str]:
    """The requirements of a lock file whose markers hold there, with their hashes."""
    for entry in re.findall(r"^\S.*(?:\n[ \t].*)*", lock, re.M):
        first, _, hashes = entry.partition("\\\n")
        requirement = Requirement(first)
        if requirement.marker is None or requirement.marker.evaluate(environment):
            yield f"{requirement.name}{requirement.specifier} \\\n{hashes}"
