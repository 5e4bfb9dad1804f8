"""The main jobs in a real browser: with a mouse, with the keyboard only, and without JavaScript."""

import pytest
from playwright.sync_api import Route, expect

from console.pages.charts import KINDS
from tests.browser.conftest import Stand
from tests.browser.steps import errors_of

pytestmark = pytest.mark.slow
REFRESH = "**/operator/carriers/now*"
"""What the page of the carriers asks for every five seconds."""
LONGEST_BETWEEN_LOOKS = 20_000
"""Milliseconds after which an overview asks again, where nothing is on its way."""


def test_it_works(stand: Stand) -> None:
    """From sign-in to a delivered message, with the live price."""
    person = stand.console.person("sender")
    context = stand.browser.new_context()
    page = context.new_page()
    errors = errors_of(page)
    page.goto(stand.url)
    page.get_by_label("E-mail address").fill(person.email)
    page.get_by_label("Password").fill("a long enough password")
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("link", name="New message").first.click()
    page.get_by_label("Phone number", exact=True).fill("+254 711 000 001")
    page.get_by_label("From", exact=True).select_option("ACME")
    page.get_by_label("Message", exact=True).fill("Soup of the day \u2013 pumpkin")
    expect(page.locator("#quote")).to_contain_text("U+2013")
    expect(page.locator("#quote .bubble")).to_have_text("Soup of the day \u2013 pumpkin")
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="Send to 1 recipient").dblclick()
    expect(page.get_by_role("heading", name="1 recipient")).to_be_visible()
    stand.console.service.deliver_receipts()
    expect(page.locator("#progress .legend .delivered b")).to_have_text("1")
    assert errors == []
    sent = stand.console.service.get("/messages?phone=254711000001").json["data"]
    assert len([each for each in sent if each["send_id"] in page.url]) == 1
    context.close()


def test_a_chart_is_drawn_without_breaking_the_policy(stand: Stand) -> None:
    context = stand.context()
    page = context.new_page()
    errors = errors_of(page)
    page.goto(stand.account + "/", wait_until="networkidle")
    expect(page.locator("canvas[data-chart]")).to_be_visible()
    assert page.evaluate("Chart.getChart(document.querySelector('canvas')).data.datasets.length") == len(KINDS)
    assert errors == []
    context.close()


def test_a_page_in_the_background_asks_for_nothing(stand: Stand) -> None:
    context = stand.context()
    page = context.new_page()
    page.clock.install()
    page.goto(stand.account + "/", wait_until="networkidle")
    with page.expect_response("**/now"):
        page.clock.run_for(LONGEST_BETWEEN_LOOKS)
    page.evaluate("Object.defineProperty(document, 'hidden', {get: () => true})")
    page.wait_for_load_state("networkidle")
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.evaluate("htmx.trigger('#now', 'every')")
    page.clock.run_for(3 * LONGEST_BETWEEN_LOOKS)
    assert requests == []
    context.close()


def test_the_carriers_are_refreshed_by_themselves(stand: Stand) -> None:
    context = stand.operator()
    page = context.new_page()
    errors = errors_of(page)
    held: list[Route] = []  # what is asked for before the first look waits for it
    page.route(REFRESH, lambda route: held.append(route))
    page.goto(stand.url + "/operator/carriers/", wait_until="load")
    rate = page.locator("#carriers section").filter(has_text="simulator").locator("dd").first
    expect(rate).to_have_text("\u2013")
    page.unroute(REFRESH)
    for route in held:
        route.continue_()
    expect(rate).to_have_text("0")
    assert errors == []
    context.close()
