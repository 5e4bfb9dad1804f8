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
    service.live_answers.clear()


@pytest.mark.parametrize("state", ["suspended", "frozen"])
@pytest.mark.parametrize("path", ["/", "/sends/", "/compose/"])
def test_the_page_says_what_is_the_matter(console: Console, state: str, path: str) -> None:
    browser = console.browser("owner")
    set_state(console, state)
    page = browser.get(path)
    assert page.status_code == 403 and "is not active" in page.text and "Something went wrong" not in page.text
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


def test_a_live_part_says_so_without_a_page_around_it(console: Console) -> None:
    browser = console.browser("owner")
    set_state(console, "suspended")
    part = browser.get("/now", headers=LIVE)
    assert part.status_code == 403 and "<html" not in part.text


def test_an_account_of_others_is_still_unknown(console: Console) -> None:
    stranger = console.browser("owner", console.service.new_account("neighbour"))
    set_state(console, "suspended")
    assert stranger.open(console.stranger().path("/")).status_code == 404
