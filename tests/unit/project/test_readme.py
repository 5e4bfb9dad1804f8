"""README and docs agree with the code, the API reference and the banner, wherever the same is said twice."""

import ast
import inspect
import re
from dataclasses import fields
from html import unescape
from pathlib import Path

from bulksms.local import banner
from shared import settings
from shared.oidc_settings import oidc_settings
from shared.settings import Settings

README = Path("README.md").read_text()
SETTINGS = Path("docs/reference/settings.md").read_text()
FIRST_SENDS = Path("docs/guides/first-send.md").read_text()
PAGES = [Path("README.md"), Path("CONTRIBUTING.md"), *sorted(Path("docs").rglob("*.md"))]
MAKEFILE = Path("Makefile").read_text()
OF_THE_CONSOLE = {"API_URL", "CONSOLE_PORT", "CONSOLE_PROXIES", "CONSOLE_SECRET_KEY"}
OF_OPENTELEMETRY = {
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "OTEL_SERVICE_NAME",
    "OTEL_TRACES_SAMPLER",
    "OTEL_TRACES_SAMPLER_ARG",
}
OF_COMPOSE = {"BIND", "CONSOLE_BIND", "POSTGRES_PASSWORD", "REDIS_PASSWORD"}
NOT_SETTINGS = {"LOG_LEVEL", "PORT", "PROMETHEUS_MULTIPROC_DIR"} | OF_THE_CONSOLE | OF_OPENTELEMETRY | OF_COMPOSE
"""Variables that are read elsewhere."""


def of_the_code() -> dict[str, object]:
    """The variables that `from_environment` reads, each with its default."""
    defaults = {each.name: each.default for each in fields(Settings)}
    found: dict[str, object] = {}
    for node in ast.walk(ast.parse(inspect.getsource(settings.from_environment))):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Settings":
            for keyword in node.keywords:
                if keyword.arg == "oidc":
                    found |= dict.fromkeys(re.findall(r'"(OIDC_[A-Z_]+)"', inspect.getsource(oidc_settings)))
                    continue
                names = [
                    part.value
                    for part in ast.walk(keyword.value)
                    if isinstance(part, ast.Constant) and re.fullmatch(r"[A-Z_]+", str(part.value))
                ]
                assert names, keyword.arg
                found[str(names[0])] = defaults[str(keyword.arg)]
    return found


def test_the_variables_are_those_of_the_code_with_their_defaults() -> None:
    table = dict(re.findall(r"^\| `([A-Z_]+)` \| ([^|]*?) ?\|", SETTINGS, re.M))
    code = of_the_code()
    assert len(code) > 10
    assert set(table) == set(code) | NOT_SETTINGS
    for name, default in code.items():
        if isinstance(default, (int, float)) and not isinstance(default, bool):
            assert float(table[name]) == default, name


def test_the_first_send_is_one_and_the_same_everywhere() -> None:
    page = unescape(re.sub(r"</?(?:li|span)[^>]*>", "", Path("api/templates/reference.html").read_text()))
    demo = {"base_url": "http://x", "api_key": "k", "api_secret": "s", "sender_id": "DEMO", "sign_in_url": ""}
    printed = banner.banner(demo, Path("var"))
    assert "API reference: http://x/reference," in printed, "which exists without `make docs`"
    for line in (banner.GET_TOKEN, banner.send_command("DEMO"), banner.SHOW):
        for text in (README, FIRST_SENDS, printed, page.replace("ACME", "DEMO")):
            assert line in [shown.strip() for shown in text.splitlines()], line


def test_the_banner_names_no_phone_where_messages_reach_phones() -> None:
    demo = {"base_url": "http://x", "api_key": "k", "api_secret": "s", "sender_id": "DEMO", "sign_in_url": ""}
    printed = banner.banner(demo, Path("var"), "/etc/carriers.toml")
    assert "the carriers of /etc/carriers.toml" in printed
    assert banner.PHONE not in printed and "simulated" not in printed


def test_what_the_banner_prints_can_be_pasted_whatever_the_key_is() -> None:
    printed = banner.variables("http://x", {"api_key": "a b", "api_secret": "$(c)"})
    assert printed == "URL=http://x/api/v1; KEY='a b'; SECRET='$(c)'"


def test_the_targets_of_make_exist() -> None:
    named = {target for page in PAGES for target in re.findall(r"`make ([a-z]+)", page.read_text())}
    assert {"run", "test", "crashpoints", "simulate", "check", "docs"} <= named
    for target in named:
        assert re.search(rf"^{target}:", MAKEFILE, re.M), target


FILE = re.compile(
    r"(?<![\w/.-])(?:api|worker|shared|bulksms|tests|docs|deploy|bench|clients)/[\w/.-]+\.(?:py|md|toml|html|conf|sh)\b"
)


def test_the_files_that_a_page_names_exist() -> None:
    for page in PAGES:
        named = FILE.findall(page.read_text()) if "notes" not in page.parts else []
        assert [path for path in named if not Path(path).exists()] == [], page


def test_links_to_files_lead_somewhere() -> None:
    for page in PAGES:
        targets = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text())
        assert [target for target in targets if not (page.parent / target).exists()] == [], page


def test_the_version_is_one_and_the_same_everywhere() -> None:
    versions = {
        path: re.findall(pattern, Path(path).read_text(), re.M)[0]
        for path, pattern in {
            "pyproject.toml": r'^version = "(.+)"',
            "clients/python/pyproject.toml": r'^version = "(.+)"',
            "clients/typescript/package.json": r'"version": "(.+?)"',
            "CHANGELOG.md": r"^## \[(\d.+?)\]",
        }.items()
    }
    assert len(set(versions.values())) == 1, versions
