"""Signing in to the console through an OpenID Connect provider."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import pytest
from sqlalchemy import Engine
from werkzeug.test import TestResponse

from shared.people.invitations import invite
from tests.harness.console import Browser, Console, console_of
from tests.harness.oidc_provider import OidcProvider, oidc_provider
from tests.integration.console.test_ended_sessions import end, kept, sealed
from tests.integration.console.test_signing_in import ELSEWHERE, signed_in

CALLBACK = "/sign-in/oidc/callback"


@pytest.fixture
def provider() -> Iterator[OidcProvider]:
    with oidc_provider() as made:
        yield made


@pytest.fixture
def console(engine: Engine, provider: OidcProvider) -> Iterator[Console]:
    with console_of(engine, oidc=provider.settings()) as made:
        yield made


def user(email: str) -> dict[str, Any]:
    return {"sub": email, "email": email, "email_verified": True, "name": "Ann Otieno"}


def went(browser: Browser, provider: OidcProvider, start: str = "/sign-in/oidc") -> str:
    """The address to which the provider sends the browser back, after a start at the console."""
    response = browser.open(start)
    assert response.status_code == 302, response.text
    return f"{CALLBACK}?{urlencode(provider.browse(response.headers['Location']))}"


def refusal(browser: Browser, response: TestResponse) -> str:
    """The page that says why nobody was signed in."""
    page = browser.open(response.headers["Location"]).text
    assert not signed_in(browser)
    return page


def test_without_a_provider_there_is_no_link(engine: Engine) -> None:
    with console_of(engine) as console:
        assert "/sign-in/oidc" not in console.stranger().open("/sign-in").text


@pytest.mark.parametrize("next_page", (*ELSEWHERE, "/accounts?" + "a" * 1000))
def test_no_other_site_is_shown(console: Console, provider: OidcProvider, next_page: str) -> None:
    browser, person = console.stranger(), console.person()
    provider.user = user(person.email)
    back = went(browser, provider, f"/sign-in/oidc?{urlencode({'next': next_page})}")
    assert browser.open(back).headers["Location"] == "/"


def test_the_state_of_another_browser_is_refused(console: Console, provider: OidcProvider) -> None:
    """An attacker's own sign-in, given to somebody else, signs them in nowhere."""
    attacker, victim = console.stranger(), console.stranger()
    provider.user = user(console.person().email)
    back = went(attacker, provider)
    assert "was not completed" in refusal(victim, victim.open(back))
    went(victim, provider)
    assert "took too long or was interrupted" in refusal(victim, victim.open(back))


def test_a_response_is_used_once(console: Console, provider: OidcProvider) -> None:
    browser, copy = console.stranger(), console.stranger()
    provider.user = user(console.person().email)
    back = went(browser, provider)
    cookie = browser.client.get_cookie("console")
    assert cookie is not None
    copy.client.set_cookie("console", cookie.value)
    browser.open(back)
    assert signed_in(browser)
    assert "took too long or was interrupted" in refusal(copy, copy.open(back))


def test_signing_in_starts_a_new_session(console: Console, provider: OidcProvider) -> None:
    browser = console.browser()
    before = browser.client.get_cookie("console")
    provider.user = user(console.person().email)
    browser.open(went(browser, provider))
    after = browser.client.get_cookie("console")
    assert before is not None and after is not None and before.value != after.value


@pytest.mark.parametrize("query", ["", "error=access_denied&state=x", "state=x", "code=x", "code=&state="])
def test_a_sign_in_that_was_not_completed_is_reported(console: Console, query: str) -> None:
    browser = console.stranger()
    browser.open("/sign-in/oidc")
    assert "was not completed" in refusal(browser, browser.open(f"{CALLBACK}?{query}"))


def test_an_invitation_is_accepted(console: Console, provider: OidcProvider) -> None:
    browser, service = console.stranger(), console.service
    token = service.transact(invite, "new@acme.example", service.account_id, "sender").token
    page = browser.open(f"/invitations/{token}").text
    assert f'href="/invitations/{token}/oidc" data-zone-link' in page
    provider.user = user("other@acme.example")
    start = f"/invitations/{token}/oidc?time_zone=Africa/Nairobi"
    assert "is for a different e-mail address" in refusal(browser, browser.open(went(browser, provider, start)))
    provider.user = user("new@acme.example")
    browser.open(went(browser, provider, start))
    assert "Overview" in browser.get("/").text
    profile = browser.open("/me/profile").text
    assert 'value="Ann Otieno"' in profile and "<option selected>Africa/Nairobi</option>" in profile


def test_what_was_typed_before_a_session_ended_is_kept_while_the_provider_signs_in(
    engine: Engine, provider: OidcProvider
) -> None:
    with console_of(engine, oidc=provider.settings(only=True)) as console:
        browser, person = console.stranger(), console.person()
        browser.sign_in_by_link(console.link(person))
        browser.get("/groups/")
        end(console, person)
        page = browser.post("/groups/", name="Regulars")
        assert 'target="_blank"' in page.text and 'type="password"' not in page.text
        fields = {"elsewhere": "yes", "lost": sealed(page)}
        early = browser.submit("/sign-in", **fields)
        assert "You are not signed in yet." in early.text and sealed(early)
        of_page = browser.tokens
        provider.user = user(person.email)
        browser.open(browser.open(went(browser, provider)).headers["Location"])
        assert kept(browser.submit("/sign-in", **of_page, **fields))["name"] == ["Regulars"]
