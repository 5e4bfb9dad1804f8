"""Whole jobs with the keyboard only, from sign-in to result: Tab leads to everything, and shows where it is."""

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Stand
from tests.browser.steps import errors_of
from tests.harness.people import PASSWORD, Person, a_person
from tests.harness.times import ahead

pytestmark = pytest.mark.browser

MOST_TABS = 150
FOCUSED = "element => element === document.activeElement"
OUTLINE = "getComputedStyle(document.activeElement).outlineStyle"


def tab_to(page: Page, target: Locator) -> None:
    """Press Tab until the element has the focus, which it shows."""
    expect(target).to_have_count(1)
    for _ in range(MOST_TABS):
        if target.evaluate(FOCUSED):
            assert page.evaluate(OUTLINE) != "none"
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"Tab does not lead to {target}")


def press(page: Page, target: Locator) -> None:
    """Go to a link, a button or a menu, and press Enter."""
    tab_to(page, target)
    page.keyboard.press("Enter")


def type_into(page: Page, target: Locator, text: str) -> None:
    """Go to a field and type."""
    tab_to(page, target)
    page.keyboard.type(text)


def sign_in(page: Page, url: str, person: Person) -> None:
    """Open the console, type e-mail address and password, and press Enter."""
    page.goto(url)
    type_into(page, page.get_by_label("E-mail address"), person.email)
    type_into(page, page.get_by_label("Password"), PASSWORD)
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Overview").wait_for()


def test_a_carrier_is_paused_and_resumed(stand: Stand) -> None:
    """By the menu beside the account's name, a page of the operator, and a confirmation with a reason."""
    service = stand.console.service
    context = stand.browser.new_context()
    page = context.new_page()
    errors = errors_of(page)
    sign_in(page, stand.url, a_person(service, service.account_id, "viewer", operator_role="admin"))
    menu = page.locator("details.menu").first
    press(page, menu.locator("summary"))
    expect(menu.locator(".menu-body")).to_be_visible()
    tab_to(page, menu.get_by_role("link", name="Live", exact=True))
    page.keyboard.press("Escape")
    expect(menu.locator(".menu-body")).to_be_hidden()
    expect(menu.locator("summary")).to_be_focused()
    page.keyboard.press("Enter")
    press(page, menu.get_by_role("link", name="Operator"))
    page.get_by_role("heading", name="Accounts").wait_for()
    press(page, page.locator("nav.side").get_by_role("link", name="Carriers"))
    page.get_by_role("heading", name="Carriers").wait_for()
    card = page.locator("#carriers section").filter(has_text="safari-smpp")
    press(page, card.get_by_role("link", name="Pause"))
    page.get_by_role("heading", name="Pause the carrier safari-smpp").wait_for()
    press(page, page.get_by_role("button", name="Pause"))
    expect(page.locator("#reason-error")).to_be_visible()
    type_into(page, page.get_by_label("Reason"), "maintenance at night")
    press(page, page.get_by_role("button", name="Pause"))
    expect(page.get_by_text("The carrier is paused.")).to_be_visible()
    press(page, card.get_by_role("button", name="Resume"))
    expect(page.get_by_text("The carrier is resumed.")).to_be_visible()
    expect(card.get_by_role("link", name="Pause")).to_be_visible()
    assert [each for each in errors if "400 (BAD REQUEST)" not in each] == []  # the reason that was missing
    context.close()


def test_a_send_is_canceled(stand: Stand) -> None:
    """By the link past the menu, a list, and the confirmation that a button opens."""
    service = stand.console.service
    send = service.bulk(["254712000087"], "Keys only", send_at=ahead()).json["send_id"]
    context = stand.browser.new_context()
    page = context.new_page()
    errors = errors_of(page)
    sign_in(page, stand.url, stand.console.person("sender"))
    press(page, page.locator("nav.side").get_by_role("link", name="Sends"))
    page.get_by_role("heading", name="Sends").wait_for()
    press(page, page.get_by_role("link", name="Skip to the content"))
    expect(page.locator("main")).to_be_focused()
    press(page, page.get_by_role("link", name="Keys only"))
    page.get_by_role("heading", name="1 recipient").wait_for()
    press(page, page.locator("summary#cancel"))
    press(page, page.get_by_role("link", name="Keep it"))
    expect(page.locator("summary#cancel")).to_be_focused()
    press(page, page.locator("summary#cancel"))
    press(page, page.get_by_role("button", name="Cancel the send"))
    expect(page.locator("#progress .status")).to_have_text("Canceled")
    assert service.counts(send)["canceled"] == 1
    assert errors == []
    context.close()
