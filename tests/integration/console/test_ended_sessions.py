"""A session that ends while a form is filled in: what was typed is kept for the same person, and for nobody else."""

import re
import time
from html import unescape
from typing import Any

import pytest

from console.session.lost_forms import MOST_CHARACTERS
from shared.people.second_factor import code_at
from tests.harness.console import Browser, Console
from tests.harness.people import PASSWORD, Person
from tests.integration.console.test_compose import ONE, hidden, sent
from tests.integration.console.test_signing_in import by_password

LIVE = {"HX-Request": "true"}
ENDED = "Your session has ended"
BACK = "You are signed in again"


def at_work(console: Console) -> tuple[Person, Browser]:
    """A person who is signed in by password, and their browser."""
    person, browser = console.person(), console.stranger()
    by_password(browser, person.email)
    return person, browser


def end(console: Console, person: Person) -> None:
    """End the person's sessions in the browser, as time does."""
    for session in person.get("/me/sessions").json["data"]:
        if not session["current"]:
            person.call("DELETE", f"/me/sessions/{session['session_id']}")
    console.app.extensions["bulksms_api"].tokens.clear()


def sealed(page: Any) -> str:
    """What the page to sign in keeps."""
    found = re.search(r'name="lost" value="([^"]+)"', page.text)
    assert found is not None, page.text
    return unescape(found[1])


def kept(page: Any) -> dict[str, list[str]]:
    """The fields of the page that leads back to the form."""
    assert BACK in page.text, page.text
    found: dict[str, list[str]] = {}
    for name, value in re.findall(r'<textarea name="([^"]+)" hidden>\n(.*?)</textarea>', page.text, re.DOTALL):
        found.setdefault(name, []).append(unescape(value))
    page_of_form = re.search(r'name="shown_again" value="([^"]*)"', page.text)
    assert page_of_form is not None
    return {**found, "shown_again": [unescape(page_of_form[1])]}


def back(browser: Browser, page: Any) -> Any:
    """Press the button of the page that leads back to the form."""
    action = re.search(r'<form method="post" action="([^"]+)" class="form-end">', page.text)
    assert action is not None
    return browser.submit(unescape(action[1]), **kept(page))


def lost(console: Console, browser: Browser, person: Person, path: str, **fields: Any) -> Any:
    """The page after a form that is sent when the session has ended."""
    end(console, person)
    page = browser.post(path, **fields)
    assert page.status_code == 401 and ENDED in page.text and 'type="password"' in page.text
    return page


def test_it_works(console: Console) -> None:
    person, browser = at_work(console)
    browser.get("/groups/")
    page = lost(console, browser, person, "/groups/", name="Regulars & friends", key="a-key")
    again = browser.submit("/sign-in", email=person.email, password=PASSWORD, lost=sealed(page))
    assert kept(again)["name"] == ["Regulars & friends"] and kept(again)["key"] == ["a-key"]
    form = back(browser, again)
    assert form.status_code == 400 and 'value="Regulars &amp; friends"' in form.text
    assert "You have signed in again" in form.text and "There is a problem" not in form.text
    assert console.service.get("/groups").json["data"] == [], "nothing is done by itself"
    assert 'name="shown_again"' not in form.text
    browser.post("/groups/", name="Regulars & friends", key="a-key")
    assert [each["name"] for each in console.service.get("/groups").json["data"]] == ["Regulars & friends"]


def test_a_message_comes_back_and_is_not_sent(console: Console) -> None:
    person, browser = at_work(console)
    browser.get("/compose/")
    fields = {**ONE, "message": "Line one\nLine two", "reference": "june"}
    page = lost(console, browser, person, "/compose/confirm", **fields)
    again = browser.submit("/sign-in", email=person.email, password=PASSWORD, lost=sealed(page))
    confirmation = back(browser, again)
    assert "Send to 1 recipient" in confirmation.text and "june" in confirmation.text
    values = hidden(confirmation)
    page = lost(console, browser, person, "/compose/send", **values)
    again = browser.submit("/sign-in", email=person.email, password=PASSWORD, lost=sealed(page))
    confirmation = back(browser, again)
    assert "Nothing was sent or changed yet" in confirmation.text and sent(console) == []
    browser.post("/compose/send", **hidden(confirmation))
    assert [each["message"] for each in sent(console)] == ["Line one\nLine two"]


def test_what_was_typed_is_kept_while_a_code_is_asked_for(console: Console) -> None:
    person, browser = at_work(console)
    secret = person.post("/me/totp", password=PASSWORD).json["secret"]
    codes = person.post("/me/totp/confirm", code=code_at(secret, int(time.time() // 30))).json["recovery_codes"]
    browser.get("/groups/")
    page = lost(console, browser, person, "/groups/", name="Regulars")
    wrong = browser.submit("/sign-in", email=person.email, password="not the password", lost=sealed(page))
    asked = browser.submit("/sign-in", email=person.email, password=PASSWORD, lost=sealed(wrong))
    known = re.search(r'name="sealed" value="([^"]+)"', asked.text)
    assert known is not None
    wrong = browser.submit("/sign-in/code", sealed=known[1], code="000000", lost=sealed(asked))
    again = browser.submit("/sign-in/code", sealed=known[1], code=codes[0], lost=sealed(wrong))
    assert kept(again)["name"] == ["Regulars"]


def test_another_person_does_not_see_it(console: Console) -> None:
    person, browser = at_work(console)
    browser.get("/groups/")
    page = lost(console, browser, person, "/groups/", name="Regulars")
    other = browser.submit("/sign-in", email=console.person().email, password=PASSWORD, lost=sealed(page))
    assert other.status_code == 302 and "Regulars" not in other.text


@pytest.mark.parametrize("forged", ["", "x", "gAAAAAx"])
def test_what_the_console_has_not_sealed_is_dropped(console: Console, forged: str) -> None:
    person, browser = console.person(), console.stranger()
    assert by_password(browser, person.email, lost=forged).status_code == 302
    waiting = console.person()
    secret = waiting.post("/me/totp", password=PASSWORD).json["secret"]
    waiting.post("/me/totp/confirm", code=code_at(secret, int(time.time() // 30)))
    asked = by_password(console.stranger(), waiting.email)
    of_another_purpose = re.search(r'name="sealed" value="([^"]+)"', asked.text)
    assert of_another_purpose is not None
    assert by_password(console.stranger(), person.email, lost=of_another_purpose[1]).status_code == 302


def test_secrets_are_not_kept(console: Console) -> None:
    person, browser = at_work(console)
    browser.open("/me/security")
    end(console, person)
    page = browser.submit("/me/password", password=PASSWORD, new_password="another long password")
    assert page.status_code == 302 and page.headers["Location"].startswith("/sign-in")
    assert ENDED in browser.open(page.headers["Location"]).text


def test_a_form_that_is_too_large_is_not_kept(console: Console) -> None:
    person, browser = at_work(console)
    browser.get("/compose/")
    end(console, person)
    numbers = "254711000001\n" * (MOST_CHARACTERS // 15)
    page = browser.post("/compose/confirm", **{**ONE, "kind": "list", "list": numbers})
    assert len(numbers) < MOST_CHARACTERS, "it is its encrypted form that is too large"
    assert page.status_code == 401 and "too large to be kept" in page.text and 'name="lost"' not in page.text


def test_a_button_says_that_it_did_nothing_and_its_page_comes_back(console: Console) -> None:
    person, browser = at_work(console)
    send = console.service.send("254711000001", "Hi").json["send_id"]
    browser.get(f"/sends/{send}")
    end(console, person)
    page = {"Referer": f"http://localhost{browser.path(f'/sends/{send}')}"}
    gone = browser.client.post(browser.path(f"/sends/{send}/pause"), data={**browser.tokens}, headers=page)
    wanted = browser.path(f"/sends/{send}")
    assert gone.status_code == 302
    shown = browser.open(gone.headers["Location"])
    assert "nothing was changed" in shown.text and f'name="next" value="{wanted}"' in shown.text


@pytest.mark.parametrize("path", ["/now", "/compose/quote"])
def test_a_live_part_never_replaces_its_page(console: Console, path: str) -> None:
    person, browser = at_work(console)
    browser.get("/compose/")
    data = {**ONE, **browser.tokens}
    for is_signed_out in (False, True):
        if is_signed_out:
            browser.submit("/sign-out")
        end(console, person)
        if path == "/now":
            part = browser.get(path, headers=LIVE)
        else:
            part = browser.client.post(browser.path(path), data=data, headers=LIVE)
        assert part.status_code == 286, "htmx stops asking"
        assert (part.headers["HX-Retarget"], part.headers["HX-Reswap"]) == ("#signed-out", "innerHTML")
        assert "You are signed out." in part.text and "<form" not in part.text and "HX-Redirect" not in part.headers


def test_a_form_after_a_new_sign_in_on_another_tab_works(console: Console) -> None:
    person, browser = at_work(console)
    browser.get("/groups/")
    of_form = browser.tokens
    browser.submit("/sign-out")
    by_password(browser, person.email)
    assert browser.post("/groups/", name="Regulars", **of_form).status_code == 302
    assert [each["name"] for each in console.service.get("/groups").json["data"]] == ["Regulars"]


def test_a_form_of_another_persons_page_is_refused(console: Console) -> None:
    """An attacker with an account has tokens, all of which name the attacker."""
    attacker, victim = console.browser(), console.browser()
    victim.get("/groups/")
    page = victim.post("/groups/", name="Forged", **attacker.tokens)
    assert page.status_code == 400 and "no longer valid" in page.text and "Forged" not in page.text
    person, stranger = console.person(), console.stranger()
    stranger.open("/sign-in")
    of_page = stranger.tokens
    page = stranger.post("/groups/", name="Forged", **attacker.tokens)
    sessions = [tokens["csrf_token"].partition(".")[0] for tokens in (stranger.tokens, of_page)]
    assert sessions[0] == sessions[1], "other pages to sign in still work"
    signed_in = stranger.submit("/sign-in", email=person.email, password=PASSWORD, lost=sealed(page))
    assert signed_in.status_code == 302 and "Forged" not in signed_in.text


@pytest.mark.parametrize("origin", ["https://evil.example", "null"])
def test_a_form_of_another_site_changes_no_session(console: Console, origin: str) -> None:
    """A browser sends no cookie with it, and would take a new one from the response."""
    attacker, stranger = console.browser(), console.stranger()
    attacker.get("/groups/")
    data = {**attacker.tokens, "name": "Forged"}
    page = stranger.client.post(stranger.path("/groups/"), data=data, headers={"Origin": origin})
    assert page.status_code == 400 and "no longer valid" in page.text and "Set-Cookie" not in page.headers


def test_nothing_leads_to_another_site(console: Console) -> None:
    person, browser = at_work(console)
    browser.get("/groups/")
    end(console, person)
    data = {**browser.tokens, "name": "Regulars"}
    for referrer in ("https://evil.example/accounts/1/live/", "http://localhost//evil.example", "http://[", "x"):
        page = browser.client.post(browser.path("/groups/"), data=data, headers={"Referer": referrer})
        assert "evil" not in page.text and f'name="next" value="{browser.path("/groups/")}"' in page.text


def test_what_somebody_else_had_typed_is_refused(console: Console) -> None:
    person, browser = at_work(console)
    browser.get("/groups/")
    page = lost(console, browser, person, "/groups/", name="Regulars")
    of_page = browser.tokens
    by_password(browser, console.person().email)
    fields = {"email": person.email, "password": PASSWORD, "lost": sealed(page), **of_page}
    refused = browser.submit("/sign-in", **fields)
    assert refused.status_code == 400 and "Regulars" not in refused.text
