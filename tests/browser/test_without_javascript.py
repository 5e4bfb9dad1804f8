"""Whole jobs without JavaScript, from sign-in to result. Pages are opened again to see what became of it."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Stand
from tests.browser.steps import go_to, sign_in
from tests.harness.times import ahead

pytestmark = pytest.mark.browser

ROWS = "guest,reached at,sits in\nRuth,254712000081,Nakuru\nOtieno,nowhere,Kisumu\nAnn,254712000083,Nyeri\n"


@pytest.fixture
def page(stand: Stand) -> Iterator[Page]:
    """A page of a browser that runs no scripts."""
    with stand.browser.new_context(java_script_enabled=False) as context:
        yield context.new_page()


def test_a_file_is_sent_with_chosen_columns(stand: Stand, page: Page) -> None:
    """No column has the name of a placeholder, nor says that it has phones."""
    service = stand.console.service
    sign_in(page, stand.url, stand.console.person("sender"))
    go_to(page, "New message")
    page.locator("#kind-file").check()
    page.locator("#file").set_input_files({"name": "guests.csv", "mimeType": "text/csv", "buffer": ROWS.encode()})
    page.get_by_label("From", exact=True).select_option("ACME")
    page.get_by_label("Message", exact=True).fill("Hello {{name}}, see you in {{city|town}}")
    page.get_by_role("button", name="Upload the file").click()
    expect(page.get_by_text("3 rows")).to_be_visible()
    page.get_by_label("Phone number column").select_option(label="reached at")
    page.get_by_label("Column for name").select_option(label="guest")
    page.get_by_label("Column for city").select_option(label="sits in")
    page.get_by_role("button", name="Check").click()
    expect(page.locator("#quote .bubble")).to_have_text("Hello Ruth, see you in Nakuru")
    page.get_by_role("button", name="Continue").click()
    expect(page.locator("main")).to_contain_text("nowhere")
    page.get_by_role("button", name="Send to 2 recipients").click()
    expect(page.get_by_role("heading", name="2 recipients")).to_be_visible()
    service.deliver_receipts()
    page.reload()
    expect(page.locator("#progress .legend .delivered b")).to_have_text("2")
    sent = service.get("/messages?phone=254712000083&texts=true").json["data"]
    assert [each["text"] for each in sent] == ["Hello Ann, see you in Nyeri"]


def test_a_send_is_controlled(stand: Stand, page: Page) -> None:
    service = stand.console.service
    balance = service.get("/balance").json["balance"]
    send = service.bulk(["254712000085", "254712000086"], "Tasting at 10", send_at=ahead()).json["send_id"]
    sign_in(page, stand.url, stand.console.person("sender"))
    go_to(page, "Sends")
    page.get_by_role("link", name="Tasting at 10").first.click()
    status = page.locator("#progress .status")
    expect(status).to_have_text("Scheduled")
    page.get_by_role("button", name="Pause").click()
    expect(status).to_have_text("Paused")
    page.get_by_role("button", name="Resume").click()
    expect(status).to_have_text("Scheduled")
    page.get_by_role("link", name="Change", exact=True).click()
    page.get_by_label("Message", exact=True).fill("Tasting at 11")
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".bubble")).to_have_text("Tasting at 11")
    page.locator("summary", has_text="Cancel").click()
    page.get_by_role("button", name="Cancel").click()
    expect(status).to_have_text("Canceled")
    assert service.counts(send)["canceled"] == 2
    assert service.get("/balance").json["balance"] == balance
