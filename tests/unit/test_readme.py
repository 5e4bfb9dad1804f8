"""The README agrees with the code, the page and the banner, wherever the same is said twice."""

import ast
import inspect
import re
from dataclasses import fields
from html import unescape
from pathlib import Path

from bulksms.local import banner
from shared import settings
from shared.settings import Settings
from worker.carriers import simulator

README = Path("README.md").read_text()
MAKEFILE = Path("Makefile").read_text()
NOT_SETTINGS = {"LOG_LEVEL", "PORT"}
"""Variables that are read elsewhere."""


def of_the_code() -> dict[str, object]:
    """The variables that `from_environment` reads, each with its default."""
    defaults = {each.name: each.default for each in fields(Settings)}
    found: dict[str, object] = {}
    for node in ast.walk(ast.parse(inspect.getsource(settings.from_environment))):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Settings":
            for keyword in node.keywords:
                names = [
                    part.value
                    for part in ast.walk(keyword.value)
                    if isinstance(part, ast.Constant) and re.fullmatch(r"[A-Z_]+", str(part.value))
                ]
                assert names, keyword.arg
                found[str(names[0])] = defaults[str(keyword.arg)]
    return found


def test_the_variables_are_those_of_the_code_with_their_defaults() -> None:
    table = dict(re.findall(r"^\| `([A-Z_]+)` \| ([^|]*?) ?\|", README, re.M))
    code = of_the_code()
    assert len(code) > 10
    assert set(table) == set(code) | NOT_SETTINGS
    for name, default in code.items():
        if isinstance(default, (int, float)) and not isinstance(default, bool):
            assert float(table[name]) == default, name


def test_the_days_of_a_key_are_those_of_the_code() -> None:
    assert f"is kept for {settings.IDEMPOTENCY_DAYS} days" in README


def test_the_table_of_outcomes_is_the_simulators() -> None:
    table = dict(re.findall(r"^\| `(999\d\d)…` \| ([^|]+?) \|", README, re.M))
    assert set(table) == {f"999{outcome:02d}" for outcome in range(1, 11)}
    assert simulator.__doc__ is not None
    for phone, outcome in table.items():
        said = re.search(rf"{phone}  (.+?)(?:  |\n)", simulator.__doc__)
        assert said is not None
        assert outcome == said[1].strip()


def test_the_first_send_is_one_and_the_same_everywhere() -> None:
    page = unescape(re.sub(r"</?(?:li|span)[^>]*>", "", Path("api/static/docs.html").read_text()))
    demo = {"base_url": "http://x", "api_key": "k", "api_secret": "s", "sender_id": "DEMO"}
    printed = banner.banner(demo, Path("var"))
    for line in (banner.GET_TOKEN, banner.send_command("DEMO"), banner.SHOW):
        for text in (README, printed, page.replace("ACME", "DEMO")):
            assert line in [told.strip() for told in text.splitlines()], line


def test_the_banner_names_no_phone_where_messages_reach_phones() -> None:
    demo = {"base_url": "http://x", "api_key": "k", "api_secret": "s", "sender_id": "DEMO"}
    printed = banner.banner(demo, Path("var"), "/etc/carriers.toml")
    assert "the carriers of /etc/carriers.toml" in printed
    assert banner.PHONE not in printed and "simulated" not in printed


def test_what_the_banner_prints_can_be_pasted_whatever_the_key_is() -> None:
    printed = banner.variables("http://x", {"api_key": "a b", "api_secret": "$(c)"})
    assert printed == "URL=http://x/api/v1; KEY='a b'; SECRET='$(c)'"


def test_the_targets_of_make_exist() -> None:
    named = set(re.findall(r"`make ([a-z]+)", README + Path("docs/explanation/reliability.md").read_text()))
    assert {"run", "test", "crashpoints", "simulate", "check"} <= named
    for target in named:
        assert re.search(rf"^{target}:", MAKEFILE, re.M), target


def test_it_begins_with_a_first_send_and_ends_with_tests() -> None:
    headings = re.findall(r"^## (.+)$", README, re.M)
    assert headings[:3] == ["The first send", "Answers", "Webhooks"]
    assert headings.index("Webhooks") < headings.index("Production") < headings.index("Tests")
    assert headings[-1] == "Tests"


def test_no_address_is_a_strangers() -> None:
    for page in [Path("README.md"), *Path("docs").rglob("*.md")]:
        named = re.findall(r"\b(?:[\w-]+\.)*example\.(?:com|org|net)\b", page.read_text())
        assert named == [], f"{page}: somebody has that domain; nobody has one that ends with .example (RFC 2606)"


def test_the_files_that_it_names_exist() -> None:
    for path in re.findall(r"`?((?:api|worker|shared|bulksms|tests|docs|deploy)/[\w/]+\.\w+)`?", README):
        assert Path(path).exists(), path
