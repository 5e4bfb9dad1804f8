"""Writes a software bill of materials: `python -m bulksms.sbom requirements-server.lock > sbom.cdx.json`.

It is a CycloneDX 1.6 document of the packages that the lock file names and that are installed, and of the scripts that
the console and the API's reference bundle. The same installation gives the same document.
"""

import importlib.metadata
import json
import re
import sys
from pathlib import Path
from typing import Any

LOCKED = re.compile(r"^([A-Za-z0-9][\w.-]*)==([^\s;\\]+)", re.MULTILINE)
SWAGGER_UI = re.compile(r"^Swagger UI (\S+) ", re.MULTILINE)


class WrongVersion(RuntimeError):
    """What is installed is not what is locked."""


def sbom(lock: str, home: Path) -> dict[str, Any]:
    """The document of this installation, whose files are in `home`. Raises WrongVersion."""
    version = importlib.metadata.version("bulksms")
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": "bulksms",
                "name": "bulksms",
                "version": version,
                "licenses": [{"license": {"id": "Apache-2.0"}}],
            }
        },
        "components": [*_packages(lock), *_scripts(home)],
    }


def _packages(lock: str) -> list[dict[str, Any]]:
    """The locked packages that are installed: a lock file also names packages for other systems."""
    found = []
    for name, version in LOCKED.findall(lock):
        try:
            distribution = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            continue
        if distribution.version != version:
            raise WrongVersion(f"{name} {distribution.version} is installed, and {version} is locked.")
        found.append(_component("pypi", re.sub(r"[-_.]+", "-", name).lower(), version, _licence(distribution)))
    return found


def _licence(distribution: importlib.metadata.Distribution) -> dict[str, Any] | None:
    """A package's license as CycloneDX has it: the SPDX expression, or else the name in its metadata."""
    metadata = distribution.metadata
    if "License-Expression" in metadata:
        return {"expression": metadata["License-Expression"]}
    classified = [each for each in metadata.get_all("Classifier") or () if each.startswith("License ::")]
    (stated, *_) = metadata.get_all("License") or ("",)
    name = classified[0].rpartition(" :: ")[2] if classified else stated
    return {"license": {"name": name}} if name and "\n" not in name else None


def _scripts(home: Path) -> list[dict[str, Any]]:
    """Third-party JavaScript that is served to browsers."""
    found = [
        _component("npm", each["name"], each["version"], {"license": {"id": each["license"]}})
        for each in json.loads((home / "console" / "vendor.json").read_text())["packages"]
        if any(file["to"].startswith("console/") for file in each["files"])
    ]
    (swagger_ui,) = SWAGGER_UI.findall((home / "NOTICE").read_text())
    return [*found, _component("npm", "swagger-ui-dist", swagger_ui, {"license": {"id": "Apache-2.0"}})]


def _component(kind: str, name: str, version: str, licence: dict[str, Any] | None) -> dict[str, Any]:
    url = f"pkg:{kind}/{name}@{version}"
    licences = {"licenses": [licence]} if licence else {}
    return {"type": "library", "bom-ref": url, "name": name, "version": version, "purl": url, **licences}


def main(arguments: list[str]) -> int:
    """Write the document of this installation. Returns an exit code."""
    if len(arguments) != 1:
        print("Usage: python -m bulksms.sbom LOCK_FILE", file=sys.stderr)
        return 2
    document = sbom(Path(arguments[0]).read_text(), Path(__file__).parent.parent)
    json.dump(document, sys.stdout, indent=1, ensure_ascii=False)
    print()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
