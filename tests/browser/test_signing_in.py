"""A person protects their sign-in with a second factor, signs in with it, and ends a session elsewhere."""

import re
import time

import pytest
from playwright.sync_api import Page, expect

from shared.people.totp import STEP_SECONDS, code_at
from tests.browser.conftest import Stand
from tests.browser.steps import errors_of, sign_in
from tests.harness.people import Person

pytestmark = pytest.mark.browser


def open_security(page: Page) -> None:
    """Choose the page in the person's menu."""
    page.locator("details.me summary").click()
    page.get_by_role("link", name="Password and sign-in").click()
    page.get_by_role("heading", name="Password and sign-in").wait_for()


def sign_out(page: Page) -> None:
    page.locator("details.me summary").click()
    page.get_by_role("button", name="Sign out").click()
    page.get_by_text("You are signed out.").wait_for()


def give_code(page: Page, url: str, person: Person, code: str) -> None:
    """Sign in with the password and this code."""
    sign_in(page, url, person)
    page.get_by_role("heading", name="Enter your code").wait_for()
    page.get_by_label("Code", exact=True).fill(code)
    page.get_by_role("button", name="Sign in").click()


def code_of(secret: str, later: int = 0) -> str:
    """What the authenticator app shows now, or so many codes later."""
    return code_at(re.sub(r"\s", "", secret), int(time.time() // STEP_SECONDS) + later)


def test_a_second_factor_is_set_up_and_used(stand: Stand) -> None:
    person = stand.console.person("sender")
    context = stand.browser.new_context()
    page = context.new_page()
    errors = errors_of(page)
    sign_in(page, stand.url, person)
    open_security(page)
    page.locator("#totp-password").fill("not their password")
    page.get_by_role("button", name="Set up").click()
    expect(page.get_by_text("Wrong password.").first).to_be_visible()
    page.locator("#totp-password").fill("a long enough password")
    page.get_by_role("button", name="Set up").click()
    expect(page.locator("svg.qr")).to_be_visible()
    secret = page.locator(".secret code").inner_text()
    page.get_by_label("Code", exact=True).fill("nothing")
    page.get_by_role("button", name="Switch on").click()
    expect(page.locator("#code-error")).to_be_visible()
    assert page.locator(".secret code").inner_text() == secret
    page.get_by_label("Code", exact=True).fill(code_of(secret))
    page.get_by_role("button", name="Switch on").click()
    page.get_by_role("heading", name="Recovery codes").wait_for()
    first, second, *_ = page.locator(".codes li").all_inner_texts()
    page.get_by_role("link", name="I have saved them").click()
    expect(page.get_by_role("button", name="Switch off")).to_be_visible()

    sign_out(page)
    give_code(page, stand.url, person, code_of(secret, later=1))  # the one before has been used
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()
    sign_out(page)
    give_code(page, stand.url, person, first)
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()
    sign_out(page)
    give_code(page, stand.url, person, first)
    expect(page.locator("#code-error")).to_be_visible()
    page.get_by_label("Code", exact=True).fill(second)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()
    refused = [each for each in errors if "400 (BAD REQUEST)" not in each]
    assert refused == [] and len(errors) == 3  # the wrong password, the wrong code, and the recovery code used before
    context.close()


def test_a_session_elsewhere_is_ended(stand: Stand) -> None:
    person = stand.console.person("viewer")
    with stand.browser.new_context() as here, stand.browser.new_context(user_agent="Tablet in the kitchen") as there:
        page, other = here.new_page(), there.new_page()
        errors = errors_of(page)
        sign_in(other, stand.url, person)
        expect(other.get_by_role("heading", name="Overview")).to_be_visible()
        sign_in(page, stand.url, person)
        open_security(page)
        row = page.get_by_role("row").filter(has_text="Tablet in the kitchen")
        row.get_by_role("button", name="End").click()
        expect(page.get_by_text("The session has ended.")).to_be_visible()
        expect(row).to_have_count(0)
        expect(page.get_by_role("row").filter(has_text="This one")).to_have_count(1)
        other.goto(stand.url + "/me/security")
        expect(other.get_by_role("heading", name="Sign in", exact=True)).to_be_visible()
        other.goto(stand.account + "/messages/")
        expect(other.get_by_role("heading", name="Sign in", exact=True)).to_be_visible()
        assert errors == []
