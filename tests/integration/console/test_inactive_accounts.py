"""People of an account that is suspended or frozen see what is the matter, and can go elsewhere."""

import pytest
from sqlalchemy import text

from shared.people.memberships import add_member
from tests.harness.console import Browser, Console

LIVE = {"HX-Request": "true"}


def set_state(console: Console, state: str) -> None:
    """Suspend or freeze the account, as the operator and the audit do."""
    with console.service.engine.begin() as connection:
        connection.execute(
            text("UPDATE account SET state = :state WHERE id = :account"),
            {"state": state, "account": console.service.account_id},
        )
    console.service.reload_limits()
    service = console.app.extensions["bulksms_api"]
    service.tokens.clear()
    service.live_responses.clear()
    service.people.clear()


@pytest.mark.parametrize(
    ("state", "said"),
    [
        ("suspended", "The operator of the service has suspended the account."),
        ("frozen", "credits do not add up, and has stopped the account."),
        ("closed", "The account was closed"),
    ],
)
@pytest.mark.parametrize("path", ["/", "/sends/", "/compose/"])
def test_the_page_says_what_is_the_matter(console: Console, state: str, said: str, path: str) -> None:
    browser = console.browser("owner")
    set_state(console, state)
    page = browser.get(path)
    assert page.status_code == 403 and "Something went wrong" not in page.text
    assert f" is {state}</h1>" in page.text and said in page.text and "Ask the operator" in page.text
    assert 'href="/me/profile"' in page.text and 'action="/sign-out"' in page.text
    assert "Your other accounts" not in page.text
    assert browser.open("/me/profile").status_code == 200
    assert browser.submit("/sign-out").headers["Location"] == "/sign-in"


def test_it_leads_to_the_other_accounts(console: Console) -> None:
    person, other = console.person("owner"), console.service.new_account("Second harbour")
    with console.service.engine.begin() as connection:
        add_member(connection, other, person.id, "viewer")
    browser = Browser(console.app, console.service.account_id)
    browser.sign_in_by_link(console.link(person))
    set_state(console, "frozen")
    page = browser.get("/")
    assert f'href="/accounts/{other}/live/"' in page.text and "Second harbour" in page.text
    assert browser.open(f"/accounts/{other}/live/").status_code == 200


def test_the_choice_of_accounts_names_those_that_cannot_be_used(console: Console) -> None:
    person, other = console.person("owner"), console.service.new_account("Second harbour")
    with console.service.engine.begin() as connection:
        add_member(connection, other, person.id, "viewer")
    browser = Browser(console.app, console.service.account_id)
    browser.sign_in_by_link(console.link(person))
    assert 'class="status' not in browser.open("/").text
    set_state(console, "frozen")
    assert browser.open("/").text.count('<span class="status bad">Frozen</span>') == 1


def test_just_after_the_change_the_page_says_that_the_account_is_not_active(
    console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("console.session.current.PERSON_SECONDS", 3600.0)
    browser = console.browser("owner")
    kept = console.app.extensions["bulksms_api"].people
    kept.clear()
    browser.get("/")
    people, kept.clear = kept.clear, lambda: None
    set_state(console, "frozen")
    kept.clear = people
    page = browser.get("/").text
    assert "is not active</h1>" in page and "Ask the operator why it is not active." in page


def test_a_live_part_says_so_without_a_page_around_it(console: Console) -> None:
    browser = console.browser("owner")
    set_state(console, "suspended")
    part = browser.get("/now", headers=LIVE)
    assert part.status_code == 403 and "<html" not in part.text


def test_an_account_of_others_is_still_unknown(console: Console) -> None:
    stranger = console.browser("owner", console.service.new_account("neighbour"))
    set_state(console, "suspended")
    assert stranger.open(console.stranger().path("/")).status_code == 404
