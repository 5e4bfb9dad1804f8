"""The days of people who only read: a viewer of an account, and support, who answers a customer."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Stand
from tests.browser.steps import errors_of, sign_in_by_link
from tests.harness.people import a_person

pytestmark = pytest.mark.slow
TEXT = "Your parcel is at the door"
REASON = "ticket 4711: a message has not arrived"


def test_a_viewer_sees_and_cannot_act(stand: Stand) -> None:
    send = next(each for each in stand.console.service.get("/sends").json["data"] if each["status"] == "scheduled")
    context = stand.browser.new_context()
    page = context.new_page()
    errors = errors_of(page)
    sign_in_by_link(stand, page, stand.console.person("viewer"))
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()
    for name in ("New message", "API keys", "People", "Audit log"):
        expect(page.get_by_role("link", name=name, exact=True)).to_have_count(0)
    page.get_by_role("link", name="Sends").first.click()
    page.goto(f"{stand.account}/sends/{send['send_id']}")
    expect(page.get_by_role("heading", name="recipients")).to_be_visible()
    for name in ("Pause", "Cancel", "Change"):
        expect(page.get_by_text(name, exact=True)).to_have_count(0)
    page.get_by_role("link", name="Messages").first.click()
    page.locator("main table a").first.click()
    expect(page.get_by_role("heading", name="What happened")).to_be_visible()
    assert errors == []
    context.close()


def test_support_finds_a_message_and_reads_it_with_a_reason(stand: Stand) -> None:
    service = stand.console.service
    sent = service.send("99901000042", TEXT).json
    service.deliver_receipts()
    context = stand.browser.new_context()
    page = context.new_page()
    errors = errors_of(page)
    sign_in_by_link(stand, page, a_person(service, None, operator_role="support"))
    page.get_by_role("link", name="Messages").first.click()
    page.get_by_label("Phone").fill("+999 01 000042")
    page.get_by_label("Account").fill(str(service.account_id))
    page.get_by_role("button", name="Search").click()
    page.locator("main table a").first.click()
    expect(page).to_have_url(f"{stand.url}/operator/messages/{sent['message_id']}")
    expect(page.locator(".timeline")).to_contain_text("Not delivered")
    expect(page.locator(".bubble")).to_have_text("(text hidden)")
    page.get_by_role("link", name="Show full phone numbers and texts").click()
    page.get_by_label("Why do you need to see them?").fill(REASON)
    page.get_by_role("button", name="Show them for an hour").click()
    expect(page.locator(".bubble")).to_have_text(TEXT)
    expect(page.locator("main h1")).to_have_text("+99901000042")
    page.get_by_role("link", name="Inbound messages").first.click()
    expect(page.get_by_role("heading", name="Inbound messages")).to_be_visible()
    page.get_by_role("link", name="Audit log").first.click()
    expect(page.locator("main table")).to_contain_text(REASON)
    assert errors == []
    context.close()
