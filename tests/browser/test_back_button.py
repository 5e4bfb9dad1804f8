"""The back button after what was confirmed: no browser asks to send the confirmation again."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Stand

pytestmark = pytest.mark.slow


def write(page: Page, stand: Stand, phone: str) -> None:
    """Write a message, and go on to the page that confirms it."""
    page.goto(stand.account + "/compose/")
    page.get_by_label("Phone number", exact=True).fill(phone)
    page.get_by_label("From", exact=True).select_option("ACME")
    page.get_by_label("Message", exact=True).fill("Your table is ready.")
    page.get_by_role("button", name="Continue").click()


def test_it_works(stand: Stand) -> None:
    context = stand.context()
    page = context.new_page()
    write(page, stand, "254711000971")
    page.get_by_role("button", name="Send to 1 recipient").click()
    expect(page.get_by_role("heading", name="1 recipient")).to_be_visible()
    send = page.url
    page.go_back()
    expect(page.get_by_role("heading", name="New message")).to_be_visible()
    page.go_forward()
    assert page.url == send
    assert len(stand.console.service.get("/messages?phone=254711000971").json["data"]) == 1
    context.close()


def test_a_confirmation_that_is_not_given_keeps_its_message(stand: Stand) -> None:
    context = stand.context()
    page = context.new_page()
    write(page, stand, "254711000972")
    page.get_by_role("button", name="Change", exact=True).click()
    expect(page.get_by_label("Message", exact=True)).to_have_value("Your table is ready.")
    assert stand.console.service.get("/messages?phone=254711000972").json["data"] == []
    context.close()


def test_a_top_up_is_not_asked_for_again(stand: Stand) -> None:
    context = stand.operator()
    page = context.new_page()
    page.goto(f"{stand.url}/operator/accounts/{stand.console.service.account_id}/top-up")
    page.get_by_label("Credits").fill("7")
    page.get_by_label("Reason").fill("invoice 2026-0119")
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="Add 7 credits").click()
    expect(page.get_by_text("Top up", exact=True).first).to_be_visible()
    page.go_back()
    expect(page.get_by_label("Credits")).to_have_value("")
    context.close()
