"""People who are signed in at the console, and strangers who have its form."""

from html import unescape
from typing import NamedTuple

from bench.browser import CSRF, Browser
from shared.ids import new_id
from shared.people.memberships import add_member
from shared.people.persons import create_person
from shared.people.sign_in_links import make_link
from tests.harness.house import House
from tests.harness.people import hash_of_password


class SignedIn(NamedTuple):
    """A person of an account, and the cookie of their browser."""

    email: str
    cookie: str


def a_person(house: House, account: int, console_port: int) -> SignedIn:
    """A new owner of the account, who has signed in by a link."""
    email = f"person-{new_id().hex}@example.com"
    with house.engine.begin() as connection:
        person = create_person(connection, email, "Ann Otieno", hash_of_password())
        assert person is not None
        add_member(connection, account, person, "owner")
        link = make_link(connection, person)
    browser = Browser(console_port)
    try:
        browser.sign_in_by_link(link)
    finally:
        browser.close()
    return SignedIn(email, browser.cookie)


def a_stranger(console_port: int) -> tuple[str, str]:
    """The cookie and the CSRF token of the page to sign in."""
    browser = Browser(console_port)
    try:
        form = CSRF.search(browser.get("/sign-in")[1])
    finally:
        browser.close()
    assert form is not None, "the page to sign in has no form"
    return browser.cookie, unescape(form.group(1))
