"""Serve the references and OpenAPI documents of both APIs and, if it was built, the documentation site."""

from functools import lru_cache
from pathlib import Path

from flask import Flask, Response, render_template, send_from_directory

from api.commit.draft import encode
from api.endpoint import OPERATORS, json_response
from api.http.flask_adapter import flask_response
from api.openapi.document import document
from api.problems import Problem

SITE = Path(__file__).parent.parent / "site"
"""Where `make docs` builds the site. It may be absent."""
FIRST_PAGE = "index.html"


def add_documentation(app: Flask, site: Path = SITE) -> None:
    """Serve the reference at /reference, the site at /docs and the OpenAPI document at /openapi.json.

    Those of the operator API are at /operator/reference and /operator/openapi.json.
    """

    def is_built() -> bool:
        return (site / FIRST_PAGE).is_file()

    @lru_cache(1)
    def customers() -> str:
        return encode(document())

    @lru_cache(1)
    def operators() -> str:
        return encode(document(OPERATORS))

    @app.get("/openapi.json")
    def openapi() -> Response:
        """The OpenAPI document."""
        return flask_response(json_response(customers()))

    @app.get("/operator/openapi.json")
    def operator_openapi() -> Response:
        """The OpenAPI document of the operator API."""
        return flask_response(json_response(operators()))

    @app.get("/operator/reference")
    def operator_reference() -> Response:
        """The reference of the operator API. It loads nothing from other hosts."""
        return Response(render_template("operator.html"))

    @app.get("/")
    def home() -> Response:
        """Redirect a browser to the documentation."""
        return _redirect("/docs")

    @app.get("/docs")
    def docs() -> Response:
        """The first page of the site, or the reference if the site was not built."""
        return _redirect(f"/docs/{FIRST_PAGE}" if is_built() else "/reference")

    @app.get("/docs/<path:name>")
    def docs_file(name: str) -> Response:
        """The site's files."""
        if not is_built():
            raise Problem(
                "not_found", "The documentation is not built here. `make docs` builds it; no restart is needed."
            )
        return send_from_directory(site, name)

    @app.get("/reference")
    def reference() -> Response:
        """The API reference. It loads nothing from other hosts."""
        return Response(render_template("reference.html"))

    @app.get("/reference/<path:name>")
    def reference_file(name: str) -> Response:
        """The reference's files."""
        return send_from_directory("static", name)


def _redirect(path: str) -> Response:
    return Response(status=302, headers={"Location": path})
