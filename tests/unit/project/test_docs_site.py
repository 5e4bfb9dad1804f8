"""The documentation site: it builds without a broken link, loads nothing from elsewhere, and the API serves it."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from flask import Flask
from flask.testing import FlaskClient

from api.documentation import add_documentation
from api.http.responses import CONTENT_SECURITY_POLICY
from api.problems import Problem

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built as `make docs` builds it."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", str(folder)]
    env = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    built = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=120, check=False)
    assert built.returncode == 0, built.stderr
    return folder


def pages(site: Path) -> Iterator[tuple[str, str]]:
    """The site's pages: their names and their HTML."""
    for path in sorted(site.rglob("*.html")):
        yield str(path.relative_to(site)), path.read_text()


def test_every_page_is_built(site: Path) -> None:
    sources = {str(path.relative_to(ROOT / "docs").with_suffix(".html")) for path in (ROOT / "docs").rglob("*.md")}
    assert {name for name, _ in pages(site)} == sources


def test_nothing_is_loaded_from_another_host(site: Path) -> None:
    for name, html in pages(site):
        loaded = re.findall(r"<(?:script|img|iframe)\b[^>]*\bsrc=\"?([^\"\s>]+)", html)
        loaded += re.findall(
            r"<link\b(?=[^>]*rel=\"?(?:stylesheet|icon|preload|preconnect))[^>]*href=\"?([^\"\s>]+)", html
        )
        assert len(loaded) > 3
        assert [url for url in loaded if re.match(r"[a-z]+:|//", url)] == [], name
    for style in site.rglob("*.css"):
        assert not re.search(r"(?:url\(|@import\s*)[\"']?(?:https?:)?//", style.read_text()), style


def test_the_policy_of_the_api_allows_what_a_page_does(site: Path) -> None:
    """Which scripts inside of a page would break."""
    assert "default-src 'self'" in CONTENT_SECURITY_POLICY and "script-src" not in CONTENT_SECURITY_POLICY
    for name, html in pages(site):
        scripts = re.findall(r"<script\b([^>]*)>", html)
        assert scripts
        assert [each for each in scripts if "src=" not in each and "application/json" not in each] == [], name
        assert not re.search(r"<[^>]+\son[a-z]+=", html), name


def test_the_runbook_of_every_alert_is_a_section_of_the_site(site: Path) -> None:
    groups = yaml.safe_load((ROOT / "deploy/observe/rules.yml").read_text())["groups"]
    urls = [rule["annotations"]["runbook_url"] for group in groups for rule in group["rules"] if "alert" in rule]
    assert urls
    for url in urls:
        page, _, section = url.partition("/docs/")[2].partition("#")
        assert re.search(rf'\bid="?{section}[\s">]', (site / page).read_text()), url


def client(site: Path) -> FlaskClient:
    app = Flask("api", root_path=str(ROOT / "api"), static_folder=None)
    add_documentation(app, site)
    return app.test_client()


def test_the_api_serves_the_site(site: Path) -> None:
    visitor = client(site)
    with visitor.get("/docs") as response:
        assert (response.status_code, response.headers["Location"]) == (302, "/docs/index.html")
    for path in ("/docs/index.html", "/docs/guides/webhooks.html", "/docs/search/search_index.json"):
        with visitor.get(path) as response:
            assert response.status_code == 200, path
    with visitor.get("/docs/nothing.html") as response:
        assert response.status_code == 404


def test_without_a_site_docs_is_the_reference(tmp_path: Path) -> None:
    visitor = client(tmp_path / "nothing")
    with visitor.get("/docs") as response:
        assert (response.status_code, response.headers["Location"]) == (302, "/reference")
    with visitor.get("/reference") as response:
        assert (response.status_code, response.mimetype) == (200, "text/html")
    visitor.application.testing = True
    with pytest.raises(Problem, match="`make docs` builds it"):
        visitor.get("/docs/operating/alerts.html")
