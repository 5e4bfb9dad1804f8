"""The days of a sender and of an owner, from one job to the next: run by `make browser`."""

import uuid

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Stand
from tests.browser.test_jobs import errors_of
from tests.browser.test_roles import signed_in
from tests.harness.people import PASSWORD
from tests.harness.times import ahead

pytestmark = pytest.mark.browser


def test_a_senders_day(stand: Stand) -> None:
    """A send is paused, resumed, changed and canceled; a reply, an opt-out, a message found by its phone, the usage."""
    service = stand.console.service
    send = service.bulk(["254711000061", "254711000062"], "Doors open at 10", send_at=ahead()).json["send_id"]
    context = stand.browser.new_context()
    page = context.new_page()
    errors = errors_of(page)
    signed_in(stand, page, stand.console.person("sender"))
    page.goto(f"{stand.account}/sends/{send}")
    page.get_by_role("button", name="Pause").click()
    expect(page.locator("#progress .status")).to_have_text("Paused")
    page.get_by_role("button", name="Resume").click()
    expect(page.locator("#progress .status")).to_have_text("Scheduled")
    page.get_by_role("link", name="Change").first.click()
    page.get_by_label("Message", exact=True).fill("Doors open at 11")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("The send is changed.")).to_be_visible()
    assert service.get(f"/sends/{send}").json["message"] == "Doors open at 11"
    page.locator("summary", has_text="Cancel").click()
    page.get_by_role("button", name="Cancel").click()
    expect(page.locator("#progress .status")).to_have_text("Canceled")

    page.goto(f"{stand.account}/conversations/254711000003")
    page.get_by_label("From", exact=True).select_option("ACME")
    page.get_by_label("Reply").fill("See you at noon")
    page.get_by_role("button", name="Send the reply").dblclick()
    expect(page.get_by_text("The reply is on its way.")).to_be_visible(timeout=20_000)
    replies = service.get("/messages?phone=254711000003&texts=true").json["data"]
    assert [each["text"] for each in replies].count("See you at noon") == 1

    page.get_by_role("link", name="Opt-outs").first.click()
    page.get_by_label("Phones").fill("+254 711 000 071")
    page.get_by_role("button", name="Add").click()
    expect(page.locator("main table")).to_contain_text("+254711000071")

    page.get_by_role("link", name="Messages").first.click()
    page.get_by_label("Phone").fill("+254 711 000 061")
    page.get_by_role("button", name="Search").click()
    page.locator("main table a").first.click()
    expect(page.locator(".timeline")).to_contain_text("Canceled")
    page.get_by_role("link", name="Usage").first.click()
    expect(page.get_by_role("heading", name="Usage")).to_be_visible()
    assert errors == []
    context.close()


def test_an_owners_day(stand: Stand) -> None:
    """A sender ID is asked for, a key made, and a colleague invited, who accepts with a password."""
    context = stand.context()
    page = context.new_page()
    errors = errors_of(page)
    page.goto(stand.account + "/sender-ids/")
    page.get_by_label("Sender ID", exact=True).fill("ROASTERY")
    page.get_by_role("button", name="Request").click()
    expect(page.get_by_role("row").filter(has_text="ROASTERY")).to_contain_text("Pending")
    page.goto(stand.account + "/api-keys/new")
    page.get_by_label("Name").fill("Till")
    page.locator("main form button").last.click()
    expect(page.locator(".secret").first).to_be_visible()
    page.goto(stand.account + "/people/")
    page.get_by_label("E-mail address").fill(f"colleague-{uuid.uuid4().hex}@example.com")
    page.get_by_role("button", name="Create the invitation").click()
    link = page.locator(".secret code").inner_text()
    assert errors == []
    context.close()
    path = "/invitations/" + link.rpartition("/")[2]
    context = stand.browser.new_context()
    page = context.new_page()
    errors = errors_of(page)
    page.goto(stand.url + path)
    page.locator("#name").fill("Wairimu Njeri")
    page.locator("#password").fill(PASSWORD)
    page.locator("#password").press("Enter")
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()
    assert errors == []
    context.close()
