"""Signing in and out of the console."""

import re
import time
from html import unescape
from typing import Any

import pytest

from console.app import create_app
from console.settings import Settings
from shared.people.second_factor import code_at
from tests.harness.console import CONSOLE_KEY, Browser, Console
from tests.harness.people import PASSWORD, Person


def signed_in(browser: Browser) -> bool:
    return browser.open("/").status_code == 302 and "/sign-in" not in browser.open("/").headers["Location"]


def by_password(browser: Browser, email: str, password: str = PASSWORD, **more: Any) -> Any:
    browser.open("/sign-in")
    return browser.submit("/sign-in", email=email, password=password, **more)


def test_a_wrong_password_is_reported_and_the_address_is_kept(console: Console) -> None:
    browser, email = console.stranger(), console.person().email
    page = by_password(browser, email, "not the right password")
    assert page.status_code == 400
    assert "Wrong e-mail address or password." in page.text
    assert f'value="{email}"' in page.text and "not the right password" not in page.text
    assert not signed_in(browser)


ELSEWHERE = (
    *("//evil.example", "///evil.example", "////evil.example", "///evil.example/%2e%2e", "/.//evil.example"),
    *("https://evil.example/", "/\\evil.example", "/\t/evil.example", "/\n/evil.example", "/%2f/evil.example"),
    *("evil", "/nothing", "/sign-out", "/;//evil.example", "?next=/"),
)


@pytest.mark.parametrize("next_page", ELSEWHERE)
def test_nobody_is_sent_elsewhere_after_signing_in(console: Console, next_page: str) -> None:
    response = by_password(console.stranger(), console.person().email, next=next_page)
    assert response.headers["Location"] == "/"


def with_second_factor(person: Person) -> str:
    """Ask the person for codes from now on. Returns the next code of their app."""
    secret, step = person.post("/me/totp", password=PASSWORD).json["secret"], int(time.time() // 30)
    assert person.post("/me/totp/confirm", code=code_at(secret, step)).status_code == 200
    return code_at(secret, step + 1)


def test_a_person_with_a_second_factor_must_give_a_code(console: Console) -> None:
    person, browser = console.person(), console.stranger()
    next_code = with_second_factor(person)
    page = by_password(browser, person.email)
    assert "Enter your code" in page.text and PASSWORD not in page.text
    found = re.search(r'name="sealed" value="([^"]+)"', page.text)
    assert found is not None
    sealed = unescape(found.group(1))
    wrong = browser.submit("/sign-in/code", sealed=sealed, code="000000")
    assert wrong.status_code == 400 and "This code is wrong" in wrong.text
    assert browser.submit("/sign-in/code", sealed="x" + sealed, code="1").headers["Location"] == "/sign-in"
    typed = f" {next_code[:3]} {next_code[3:]} "
    assert browser.submit("/sign-in/code", sealed=sealed, code=typed).headers["Location"] == "/"
    assert signed_in(browser)


def test_signing_in_starts_a_new_session(console: Console) -> None:
    browser = console.stranger()
    browser.open("/sign-in")
    before = browser.client.get_cookie("console")
    by_password(browser, console.person().email)
    after = browser.client.get_cookie("console")
    assert before and after and before.value != after.value


def test_signing_out_ends_every_copy_of_the_cookie(console: Console) -> None:
    browser = console.browser()
    cookie = browser.client.get_cookie("console")
    assert cookie is not None
    browser.get("/")
    assert browser.submit("/sign-out").headers["Location"] == "/sign-in"
    thief = console.stranger()
    thief.client.set_cookie("console", cookie.value)
    assert thief.get("/").headers["Location"].startswith("/sign-in")


def test_a_sign_in_that_waits_for_a_code_expires(console: Console, monkeypatch: pytest.MonkeyPatch) -> None:
    person, browser = console.person(), console.stranger()
    secret = person.post("/me/totp", password=PASSWORD).json["secret"]
    recovery = person.post("/me/totp/confirm", code=code_at(secret, int(time.time() // 30))).json["recovery_codes"][0]
    found = re.search(r'name="sealed" value="([^"]+)"', by_password(browser, person.email).text)
    assert found is not None
    monkeypatch.setattr("console.views.sign_in.SECONDS", -1)
    late = browser.submit("/sign-in/code", sealed=unescape(found.group(1)), code=recovery)
    assert late.headers["Location"] == "/sign-in" and not signed_in(browser)


def test_signing_out_ends_the_session_in_the_api(console: Console) -> None:
    person, browser = console.person(), console.stranger()
    by_password(browser, person.email)
    assert len(person.get("/me/sessions").json["data"]) == 2
    browser.get("/")
    browser.submit("/sign-out")
    assert [each["current"] for each in person.get("/me/sessions").json["data"]] == [True]


def test_a_link_signs_in_once_and_only_by_its_button(console: Console) -> None:
    person = console.person()
    token = console.link(person)
    for _ in range(2):
        assert console.stranger().open(f"/sign-in/link/{token}").status_code == 200
    browser = console.stranger()
    assert browser.sign_in_by_link(token).status_code == 302
    late = console.stranger()
    late.open(f"/sign-in/link/{token}")
    refused = late.submit(f"/sign-in/link/{token}")
    assert refused.status_code == 400 and "has been used or replaced, or has expired" in refused.text


def test_an_invitation_is_accepted(console: Console) -> None:
    owner = console.browser()
    owner.get("/people/")
    page = owner.post("/people/invitations", email="new@example.com", role="sender", key="an-invitation")
    link = re.search(r"<code>http://127\.0\.0\.1:8001(/invitations/[^<]+)</code>", page.text)
    assert link is not None
    again = owner.post("/people/invitations", email="new@example.com", role="sender", key="an-invitation")
    assert "The link was shown once" in again.text
    new = console.stranger()
    assert "new@example.com" in new.open(link.group(1)).text
    short = new.submit(link.group(1), name="New Person", password="short")
    assert short.status_code == 400 and 'value="New Person"' in short.text
    nameless = new.submit(link.group(1), name="", password=PASSWORD)
    assert nameless.status_code == 400 and "If you are new here, enter your name too." in nameless.text
    assert new.submit(link.group(1), name="New Person", password=PASSWORD).status_code == 302
    assert "New message" in new.get("/").text
    assert console.stranger().open(link.group(1)).status_code == 400


def test_the_cookie_is_for_the_browser_only(console: Console) -> None:
    set_cookie = console.stranger().open("/sign-in").headers["Set-Cookie"]
    assert "HttpOnly" in set_cookie and "SameSite=Lax" in set_cookie and "Secure" not in set_cookie
    app = create_app(Settings(secret_key=CONSOLE_KEY, api_url=console.api_url, url="https://sms.example.com"))
    response = app.test_client().get("/sign-in", base_url="https://sms.example.com")
    assert response.headers["Set-Cookie"].startswith("__Host-console=") and "Secure" in response.headers["Set-Cookie"]
    assert "max-age" in response.headers["Strict-Transport-Security"]


def test_the_api_gets_the_address_and_browser_of_the_person(console: Console) -> None:
    person, browser = console.person(), console.stranger()
    browser.open("/sign-in")
    here = {"REMOTE_ADDR": "198.51.100.23", "HTTP_USER_AGENT": "Firefox of a test"}
    data = {**browser.tokens, "email": person.email, "password": PASSWORD}
    browser.client.post("/sign-in", data=data, environ_overrides=here)
    sessions = person.get("/me/sessions").json["data"]
    assert ("198.51.100.23", "Firefox of a test") in [(each["address"], each["user_agent"]) for each in sessions]
