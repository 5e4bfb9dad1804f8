"""The bill of materials lists what the image has."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

from bulksms.sbom import WrongVersion, sbom

LOCK = Path("requirements-server.lock")


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    written = subprocess.run(
        [sys.executable, "-m", "bulksms.sbom", str(LOCK)], check=True, capture_output=True, text=True, timeout=60
    )
    made: dict[str, Any] = json.loads(written.stdout)
    return made


def locked() -> dict[str, str]:
    """The packages that are installed on this system, by the lock file."""
    lines = re.findall(r"^([a-zA-Z0-9].*?) *\\\\?$", LOCK.read_text(), re.M)
    found = [Requirement(line) for line in lines]
    return {
        each.name: str(each.specifier).removeprefix("==")
        for each in found
        if each.marker is None or each.marker.evaluate()
    }


def test_it_lists_each_locked_package_with_its_version(document: dict[str, Any]) -> None:
    listed = {each["name"]: each["version"] for each in document["components"] if each["purl"].startswith("pkg:pypi/")}
    assert listed == locked() and len(listed) > 50
    assert (document["bomFormat"], document["metadata"]["component"]["name"]) == ("CycloneDX", "bulksms")
    assert len({each["bom-ref"] for each in document["components"]}) == len(document["components"])


def test_another_version_than_the_locked_one_is_refused() -> None:
    with pytest.raises(WrongVersion, match=r"click .* is installed, and 0\.0\.1 is locked"):
        sbom("click==0.0.1 \\\n", Path.cwd())
