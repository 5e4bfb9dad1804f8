"""Versioned addresses of style sheets and scripts, so that browsers may cache them."""

import hashlib
from pathlib import Path
from typing import Any

from flask import Flask, Response, request

from console.pages.security import ONE_YEAR


def add_versions(app: Flask) -> None:
    """Add `v`, a hash of the file, to the address of each static file."""
    versions: dict[str, str] = {}

    @app.url_defaults
    def add_version(endpoint: str, values: dict[str, Any]) -> None:
        if endpoint == "static":
            name = str(values["filename"])
            if name not in versions or app.debug:
                content = (Path(str(app.static_folder)) / name).read_bytes()
                versions[name] = hashlib.sha256(content).hexdigest()[:12]
            values["v"] = versions[name]

    @app.after_request
    def keep(response: Response) -> Response:
        if request.endpoint == "static" and response.status_code == 200 and "v" in request.args:
            response.headers["Cache-Control"] = f"public, max-age={ONE_YEAR}, immutable"
        return response
