"""The main jobs in a real browser: with a mouse, with the keyboard only, and without JavaScript."""

import re
import uuid

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


def test_a_list_is_sent_without_javascript(stand: Stand) -> None:
    context = stand.context(java_script_enabled=False)
    page = context.new_page()
    page.goto(stand.account + "/compose/")
    page.locator("#kind-list").check()
    page.get_by_label("Phone numbers").fill("254711000011\n254711000012\n0711")
    page.get_by_label("From", exact=True).select_option("ACME")
    page.get_by_label("Message", exact=True).fill("No scripts were used")
    page.get_by_role("button", name="Check").click()
    expect(page.locator("#quote")).to_contain_text("Balance after")
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="Send to 2 recipients").click()
    expect(page.get_by_role("heading", name="2 recipients")).to_be_visible()
    context.close()


def test_a_message_is_sent_with_the_keyboard_only(stand: Stand) -> None:
    context = stand.context()
    page = context.new_page()
    page.goto(stand.account + "/compose/")
    page.get_by_label("Phone number", exact=True).focus()
    page.keyboard.type("254711000021")
    page.keyboard.press("Tab")
    page.keyboard.type("ACME")
    page.keyboard.press("Tab")
    page.keyboard.type("By keyboard")
    for _ in range(20):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent.trim()") == "Continue":
            break
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Check and send").wait_for()
    page.get_by_role("button", name="Send to 1 recipient").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="1 recipient")).to_be_visible()
    context.close()


def test_a_file_is_imported_and_its_bad_rows_are_shown(stand: Stand) -> None:
    context = stand.context()
    page = context.new_page()
    page.goto(stand.account + "/groups/")
    page.get_by_label("Name").fill(f"Imported {uuid.uuid4().hex[:6]}")
    page.get_by_role("button", name="Create the group").click()
    rows = "phone,name\n254711000031,Ann\nnonsense,Ben\n254711000032,<script>alert(1)</script>\n"
    page.get_by_label("CSV file").set_input_files(
        {"name": "people.csv", "mimeType": "text/csv", "buffer": rows.encode()}
    )
    page.get_by_role("button", name="Import").click()
    expect(page.locator(".status")).to_have_text("Completed")
    expect(page.get_by_role("heading", name="Rows that were not imported")).to_be_visible()
    expect(page.locator("table")).to_contain_text("nonsense")
    page.get_by_role("link", name=re.compile("Imported")).click()
    expect(page.locator("table").last).to_contain_text("<script>alert(1)</script>")
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


def test_a_person_reads_german(stand: Stand) -> None:
    context = stand.browser.new_context(locale="de-DE")
    page = context.new_page()
    page.goto(stand.url + "/sign-in")
    expect(page.get_by_role("button", name="Anmelden")).to_be_visible()
    assert page.evaluate("document.documentElement.lang") == "de"
    context.close()


def test_an_operators_day(stand: Stand) -> None:
    """A sender ID is approved, an account topped up, a carrier paused and resumed, a doubt resolved."""
    context = stand.operator()
    page = context.new_page()
    errors = errors_of(page)
    service = stand.console.service
    page.goto(stand.url + "/operator/")
    before = service.get("/balance").json["balance"]
    page.get_by_role("link", name=f"Harbour Coffee {service.account_id}").click()
    page.get_by_role("link", name="Top up").click()
    page.get_by_label("Credits").fill("250")
    page.get_by_label("Reason").fill("invoice 2026-0200")
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="Add 250 credits").dblclick()
    expect(page.get_by_text("250 credits added.")).to_be_visible()
    assert service.get("/balance").json["balance"] == before + 250

    page.get_by_role("link", name="Sender IDs").first.click()
    row = page.get_by_role("row").filter(has_text="HARB0UR").filter(has_text="Tell our guests")
    row.get_by_role("link", name="Reject").click()
    page.get_by_role("button", name="Reject").click()
    expect(page.get_by_text("Give a reason.").first).to_be_visible()
    page.get_by_label("Reason").fill("It looks like the name of another account.")
    page.get_by_role("button", name="Reject").click()
    expect(page.get_by_text("The sender ID is rejected.")).to_be_visible()
    expect(page.get_by_role("row").filter(has_text="HARB0UR")).to_have_count(0)
    row = page.get_by_role("row").filter(has_text="HARBOUR")
    row.locator("summary", has_text="Approve").click()
    row.get_by_role("button", name="Approve").click()
    expect(page.get_by_text("The sender ID is approved.")).to_be_visible()

    page.get_by_role("link", name="Carriers").first.click()
    card = page.locator("#carriers section").filter(has_text="safari-smpp")
    card.get_by_role("link", name="Pause").click()
    page.get_by_label("Reason").fill("maintenance of the carrier")
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_text("The carrier is paused.")).to_be_visible()
    card.get_by_role("button", name="Resume").click()
    expect(page.get_by_text("The carrier is resumed.")).to_be_visible()
    expect(card.get_by_role("link", name="Pause")).to_be_visible()

    page.get_by_role("link", name="In doubt").first.click()
    page.get_by_role("checkbox").first.check()
    page.get_by_role("button", name="Resolve the chosen messages").click()
    page.get_by_label("Not sent: their credits are released").check()
    page.get_by_role("button", name="Resolve").dblclick()
    expect(page.get_by_text("1 message is resolved.")).to_be_visible()
    assert [each for each in errors if "400 (BAD REQUEST)" not in each] == []  # the reason that was missing
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
