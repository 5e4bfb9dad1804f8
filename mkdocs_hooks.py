"""Hooks of the documentation site's build (mkdocs.yml)."""

import hashlib
import re
from pathlib import Path
from typing import Any

INLINE_SCRIPT = re.compile(r"<script>(.+?)</script>", re.DOTALL)
FOLDER = "assets/inline"


def on_post_page(output: str, *, page: Any, config: dict[str, Any]) -> str:
    """Move inline scripts into files, because the API's Content-Security-Policy forbids inline ones."""
    return _without_inline_scripts(output, "../" * page.url.count("/"), Path(config["site_dir"]))


def on_post_template(output_content: str, *, template_name: str, config: dict[str, Any]) -> str:
    """Do the same for the page of 404."""
    return _without_inline_scripts(output_content, "/docs/", Path(config["site_dir"]))


def _without_inline_scripts(html: str, root: str, site: Path) -> str:
    """Replace each inline script by a link to a file named after its content. `root` is the way to the site's top."""

    def moved(match: re.Match[str]) -> str:
        name = f"{hashlib.sha256(match[1].encode()).hexdigest()[:16]}.js"
        file = site / FOLDER / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(match[1])
        return f'<script src="{root}{FOLDER}/{name}"></script>'

    return INLINE_SCRIPT.sub(moved, html)
