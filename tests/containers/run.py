"""Makes what the containers need, and runs the proof in namespaces of its own: `make containers`.

It takes root, a Debian mirror, and the index that pip is configured with; no image registry.
"""

import fcntl
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from tests.containers.debian import ENGINE, ISOLATED, MIRROR, make_system
from tests.containers.images import IMAGES, taken_from_registry
from tests.containers.wheels import fetch_wheels

FOLDER = Path("var/containers").absolute()
PROOF_SECONDS = 3600
PACKAGES = {
    "debootstrap": "debootstrap",
    "unshare": "util-linux",
    "chroot": "coreutils",
    "mount": "mount",
    "tar": "tar",
}
"""Programs, and the packages of Debian that have them."""


def missing() -> Iterator[str]:
    """What this machine lacks."""
    if os.geteuid() != 0:
        yield "root: namespaces, mounts and a Docker daemon need it"
    for program, package in PACKAGES.items():
        if shutil.which(program) is None:
            yield f"{program}: apt-get install {package}"
    namespaces = [*ISOLATED, "--net", "true"]
    if shutil.which("unshare") and subprocess.run(namespaces, check=False, capture_output=True).returncode:
        yield "namespaces: `unshare` cannot make them here"
    for filesystem in ("cgroup", "overlay"):
        if filesystem not in Path("/proc/filesystems").read_text():
            yield f"{filesystem}: the kernel of this machine does not have it"
    unknown = taken_from_registry(Path("Dockerfile").read_text(), Path("docker-compose.yml").read_text()) - set(IMAGES)
    for image in sorted(unknown):
        yield f"{image}: tests/containers/images.py has nothing in its place"


def remove(work: Path, cgroup: str) -> None:
    """Remove what a run stored. Its processes are ending or have ended."""
    for _ in range(20):
        shutil.rmtree(work, ignore_errors=True)
        made = sorted(Path("/sys/fs/cgroup").glob(f"**/{cgroup}/**/"), key=lambda path: len(path.parts), reverse=True)
        for group in made:
            try:
                group.rmdir()
            except OSError:
                break
        if not work.exists() and not any(group.exists() for group in made):
            return
        time.sleep(0.5)
    print(f"{work} or the control groups {cgroup} could not be removed.", file=sys.stderr)


def main() -> int:
    """Run it. Returns the exit code."""
    if lacks := list(missing()):
        print(
            "\n".join(["`make containers` cannot run here. It lacks", *(f"  {each}" for each in lacks)]),
            file=sys.stderr,
        )
        return 1
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    FOLDER.mkdir(parents=True, exist_ok=True)
    with (FOLDER / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("`make containers` runs already in this folder.", file=sys.stderr)
            return 1
        mirror = os.environ.get("DEBIAN_MIRROR", MIRROR)
        for system in (ENGINE, *(image.system for image in IMAGES.values())):
            make_system(system, FOLDER, mirror)
        fetch_wheels(FOLDER, FOLDER / IMAGES["python:3.11-slim"].system.name)
        work, cgroup = FOLDER / "run", f"bulksms-containers-{os.getpid()}"
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir()
        proof = [sys.executable, "-m", "tests.containers.proof", str(FOLDER), str(work), cgroup]
        try:
            command = [*ISOLATED, "--net", "--ipc", "--uts", *proof]
            return subprocess.run(command, check=False, timeout=PROOF_SECONDS).returncode
        finally:
            remove(work, cgroup)


if __name__ == "__main__":
    sys.exit(main())
