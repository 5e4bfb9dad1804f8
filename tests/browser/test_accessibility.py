"""axe-core finds nothing on any page, in both themes and on a phone; nothing is wider than the screen."""

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

from tests.browser.conftest import Stand
from tests.browser.pages import operators_pages, pages_of

AXE = Path(__file__).parent / "vendor" / "axe.min.js"
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
SCREENS = {
    "light": {"viewport": {"width": 1280, "height": 900}, "color_scheme": "light"},
    "dark": {"viewport": {"width": 1280, "height": 900}, "color_scheme": "dark"},
    "phone": {"viewport": {"width": 360, "height": 740}, "color_scheme": "light"},
    "dark phone": {"viewport": {"width": 360, "height": 740}, "color_scheme": "dark"},
}


def violations(page: Page) -> list[str]:
    """What axe-core finds on the page, each with its first element."""
    page.evaluate(AXE.read_text())
    found: Any = page.evaluate("rules => axe.run(document, {runOnly: {type: 'tag', values: rules}})", RULES)
    return [f"{each['id']}: {each['nodes'][0]['html'][:200]}" for each in found["violations"]]


def wrong_with(page: Page) -> list[str]:
    """The same, and whether the page is wider than the screen."""
    wide = page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth")
    return violations(page) + (["wider than the screen"] if wide else [])


@pytest.mark.parametrize(
    "screen", [pytest.param(name, marks=() if name == "phone" else pytest.mark.browser) for name in SCREENS]
)
def test_every_page_can_be_used_by_everybody(stand: Stand, screen: str) -> None:
    context = stand.context(bypass_csp=True, **SCREENS[screen])
    page = context.new_page()
    addresses = {name: stand.account + path for name, path in pages_of(stand.console).items()}
    addresses |= {"profile": stand.url + "/me/profile", "security": stand.url + "/me/security"}
    found = {}
    for name, address in addresses.items():
        page.goto(address, wait_until="load")
        if wrong := wrong_with(page):
            found[name] = wrong
    context.close()
    stranger = stand.browser.new_context(bypass_csp=True, **SCREENS[screen])
    page = stranger.new_page()
    for path in ("/sign-in", "/nothing"):
        page.goto(stand.url + path)
        if wrong := wrong_with(page):
            found[path] = wrong
    stranger.close()
    assert found == {}


@pytest.mark.parametrize(
    "screen", [pytest.param(name, marks=() if name == "phone" else pytest.mark.browser) for name in SCREENS]
)
def test_every_page_of_the_operator_can_be_used_by_everybody(stand: Stand, screen: str) -> None:
    context = stand.operator(bypass_csp=True, **SCREENS[screen])
    page = context.new_page()
    found = {}
    for name, path in operators_pages(stand.console).items():
        page.goto(stand.url + path, wait_until="networkidle")
        if wrong := wrong_with(page):
            found[name] = wrong
    context.close()
    assert found == {}
