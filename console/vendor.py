"""Fetches third-party scripts from npm: `python -m console.vendor`, which is `make assets`.

console/vendor.json names each package with its version, the hash of its archive, and the files taken from it with
their hashes. The files are part of the repository, so nobody needs npm to run the console.
"""

import base64
import hashlib
import json
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any

LOCK = Path(__file__).parent / "vendor.json"
ROOT = Path(__file__).parent.parent


def packages() -> list[dict[str, Any]]:
    """The packages of the lock file: `name`, `version`, `integrity`, and `files` with `from`, `to` and `sha256`."""
    locked: list[dict[str, Any]] = json.loads(LOCK.read_text())["packages"]
    return locked


def fetch(package: dict[str, Any], folder: Path) -> None:
    """Download a package and write its files. Raises ValueError if the hash of the archive or of a file differs."""
    named = f"{package['name']}@{package['version']}"
    packed = subprocess.run(
        ["npm", "pack", named, "--silent", "--pack-destination", str(folder)],
        check=True,
        capture_output=True,
        text=True,
    )
    archive = folder / packed.stdout.strip().splitlines()[-1]
    digest = "sha512-" + base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
    if digest != package["integrity"]:
        raise ValueError(f"{named} has the hash {digest}, and {LOCK.name} says {package['integrity']}")
    with tarfile.open(archive) as packed_files:
        for file in package["files"]:
            found = packed_files.extractfile(f"package/{file['from']}")
            content = found.read() if found else b""
            if hashlib.sha256(content).hexdigest() != file["sha256"]:
                raise ValueError(f"the hash of {file['from']} in {named} is not the one in {LOCK.name}")
            (ROOT / file["to"]).parent.mkdir(parents=True, exist_ok=True)
            (ROOT / file["to"]).write_bytes(content)


def main() -> None:
    """Fetch all packages of the lock file."""
    for package in packages():
        with tempfile.TemporaryDirectory() as folder:
            fetch(package, Path(folder))
        print(f"{package['name']} {package['version']}", file=sys.stderr)


if __name__ == "__main__":
    main()
