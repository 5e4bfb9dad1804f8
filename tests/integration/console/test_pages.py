"""Every page of an account opens, for each role and in both worlds, or is refused."""

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


def test_it_works(console: Console) -> None:
    page = console.browser().get("/")
    assert page.status_code == 200
    assert "Overview" in page.text and "Sending now" in page.text


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


def test_the_chart_of_a_long_time_shows_a_year_of_it(console: Console) -> None:
    owner = console.browser()
    year = owner.get("/usage/?since=2024-01-01&until=2024-12-31").text
    assert "2024-12-31" in year
    ages = owner.get("/usage/?since=2000-01-01&until=2024-12-31")
    assert ages.status_code == 200 and len(ages.text) < 1.1 * len(year)
