"""Every page of an account opens, for each role and in both worlds, or is refused."""

from datetime import UTC, datetime

import pytest

from console.views import ACCOUNT_PAGES
from tests.harness.console import Console


def pages_of_the_account(console: Console) -> list[str]:
    """The paths of all pages that need no object."""
    prefix = "/accounts/<account_id>/<any(live, test):world>"
    rules = [rule for rule in console.app.url_map.iter_rules() if rule.rule.startswith(prefix)]
    return [
        rule.rule.removeprefix(prefix)
        for rule in rules
        if "GET" in (rule.methods or ()) and rule.arguments == {"account_id", "world"}
    ]


@pytest.mark.parametrize("path", ["/compose/", "/api-keys/new", "/webhooks/new", "/people/"])
def test_a_page_refused_to_the_role_still_shows_the_menu(console: Console, path: str) -> None:
    page = console.browser("viewer").get(path)
    assert page.status_code == 403 and "Your role does not allow this." in page.text
    assert "Pages of the account" in page.text and "<textarea" not in page.text


@pytest.mark.parametrize("world", ["live", "test"])
def test_an_owner_sees_every_page(console: Console, world: str) -> None:
    owner = console.browser("owner")
    paths = pages_of_the_account(console)
    assert len(paths) > len(ACCOUNT_PAGES)
    for path in paths:
        page = owner.get(path, world)
        if world == "test" and path.startswith(("/people/", "/changes/")):
            assert page.status_code == 403  # a sandbox has no people of its own
            continue
        assert page.status_code in (200, 302), (path, page.text)


@pytest.mark.parametrize(("until", "status"), [("2024-12-31", 200), ("2025-01-01", 400)])
def test_usage_is_shown_for_a_year_at_most(console: Console, until: str, status: int) -> None:
    page = console.browser().get(f"/usage/?since=2024-01-01&until={until}")
    assert (page.status_code, "Choose at most a year." in page.text) == (status, status == 400)
    assert f'value="{until}"' in page.text


def test_a_statement_is_shown(console: Console) -> None:
    browser = console.browser("viewer")
    console.service.bulk(["254711000001", "254711000002"])
    month = f"{datetime.now(UTC):%Y-%m}"
    assert f"/credits/statements/{month}" in browser.get("/credits/").text
    page = browser.get(f"/credits/statements/{month}").text
    assert "Opening balance" in page and "Charged" in page and f"since={month}-01" in page
    assert browser.get("/credits/statements/2000-01").status_code == 404
