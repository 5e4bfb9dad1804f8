"""A session ends while a message is written: it stays on its page, and comes back after signing in."""

from urllib.parse import urlsplit

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.conftest import Stand
from tests.browser.steps import sign_in
from tests.harness.people import PASSWORD, Person
from tests.integration.console.test_ended_sessions import end

pytestmark = pytest.mark.browser

LONGER = 25_000
"""Milliseconds, more than there are between two looks of the overview."""
TEXT = "The table is ready at eight."


def written(stand: Stand, context: BrowserContext, person: Person) -> Page:
    """The page of a message, as it is filled in."""
    page = context.new_page()
    sign_in(page, stand.url, person)
    page.goto(stand.account + "/compose/")
    page.locator("#phone").fill("+254 711 000 003")
    page.locator("#sender_id").select_option("ACME")
    page.locator("#message").fill(TEXT)
    expect(page.locator("#quote .tiles")).to_be_visible()
    return page


def test_a_sign_in_on_another_tab_leaves_the_message(stand: Stand) -> None:
    person = stand.console.person("sender")
    with stand.browser.new_context() as context:
        page = written(stand, context, person)
        end(stand.console, person)
        page.locator("#message").fill(f"{TEXT} Bye!")
        with context.expect_page() as opened:
            page.get_by_role("link", name="Open the sign-in page in a new tab").click()
        other = opened.value
        other.get_by_label("E-mail address").fill(person.email)
        other.get_by_label("Password").fill(PASSWORD)
        other.get_by_role("button", name="Sign in").click()
        expect(other.get_by_role("heading", name="Overview")).to_be_visible()
        page.get_by_role("button", name="Continue").click()
        expect(page.locator(".bubble")).to_have_text(f"{TEXT} Bye!")


def test_a_live_part_stops_asking_and_leaves_its_page(stand: Stand) -> None:
    person = stand.console.person("viewer")
    with stand.browser.new_context() as context:
        page = context.new_page()
        sign_in(page, stand.url, person)
        page.clock.install()
        page.goto(stand.account + "/")
        asked: list[str] = []
        page.on("request", lambda request: asked.append(urlsplit(request.url).path) if "/now" in request.url else None)
        end(stand.console, person)
        page.clock.fast_forward(LONGER)
        expect(page.locator("#signed-out")).to_contain_text("You are signed out.")
        expect(page.get_by_role("heading", name="Overview")).to_be_visible()
        assert len(asked) == 1
        page.clock.fast_forward(LONGER)
        page.locator("details.me summary").click()
        assert len(asked) == 1
