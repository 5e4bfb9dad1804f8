"""Prints what the project depends on without upper bounds, for `make next`."""

import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent


def newest() -> list[str]:
    """Every dependency of pyproject.toml; a pinned version is the oldest that may be taken."""
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text())
    project = pyproject["project"]
    groups = [
        project["dependencies"],
        *project["optional-dependencies"].values(),
        *pyproject["dependency-groups"].values(),
    ]
    return [requirement.replace("==", ">=") for group in groups for requirement in group]


if __name__ == "__main__":
    print("\n".join(newest()))
