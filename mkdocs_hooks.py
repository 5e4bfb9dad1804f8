"""Hooks of the documentation site's build (mkdocs.yml)."""

import hashlib
import re
from pathlib import Path
from typing import Any

INLINE_SCRIPT = re.compile(r"<script>(.+?)</script>", re.DOTALL)
FOLDER = "assets/inline"


def on_post_page(output: str, *, page: Any, config: dict[str, Any]) -> str:
    """Move inline scripts into files, because the API's Content-Security-Policy forbids inline ones."""
    root = "../" * page.url.count("/")

    def moved(match: re.Match[str]) -> str:
        name = f"{hashlib.sha256(match[1].encode()).hexdigest()[:16]}.js"
        file = Path(config["site_dir"]) / FOLDER / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(match[1])
        return f'<script src="{root}{FOLDER}/{name}"></script>'

    return INLINE_SCRIPT.sub(moved, output)


def on_post_build(*, config: dict[str, Any]) -> None:
    """Remove the theme's page for what does not exist: the API answers that itself."""
    (Path(config["site_dir"]) / "404.html").unlink(missing_ok=True)
