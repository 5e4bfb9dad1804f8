"""Many pages of one account open at the same time."""

from collections.abc import Iterator
from uuid import UUID

import pytest

from console.load.fair_share import (
    EXTENSION,
    MOST_OF_ACCOUNT,
    MOST_OF_ADDRESS,
    MOST_OF_SESSION,
    MOST_OF_STRANGERS,
    Share,
)
from console.session.current import SESSION_TOKEN
from console.session.token_cache import digest
from shared.people.memberships import end_membership
from tests.harness.console import UNUSED, Browser, Console

LIVE = {"HX-Request": "true"}


@pytest.fixture(autouse=True)
def _own_application() -> Iterator[None]:
    """An application in which other tests hold nothing, and which none of them gets."""
    UNUSED.clear()
    yield
    UNUSED.clear()


def second_owner(console: Console) -> tuple[Browser, UUID]:
    """The browser of another owner, and who it is."""
    person = console.person("owner")
    browser = Browser(console.app, console.service.account_id)
    assert browser.sign_in_by_link(console.link(person)).status_code == 302
    return browser, person.id


def test_a_session_has_its_share_and_no_more(console: Console) -> None:
    browser, other = console.browser("owner"), console.browser("owner")
    with browser.client.session_transaction() as cookie:
        session = ("session", digest(cookie[SESSION_TOKEN]))
    share: Share = console.app.extensions[EXTENSION]
    for _ in range(MOST_OF_SESSION):
        assert share.hold(session, MOST_OF_SESSION)
    refused = browser.get("/")
    assert refused.status_code == 429 and "Wait a moment" in refused.text
    part = browser.get("/now", headers=LIVE)
    assert (part.status_code, part.headers["HX-Reswap"], part.text) == (429, "none", "")
    assert other.get("/").status_code == 200
    share.release(session)
    assert [browser.get("/").status_code for _ in range(2 * MOST_OF_SESSION)] == [200] * 2 * MOST_OF_SESSION


def test_an_account_has_its_share_and_no_more(console: Console) -> None:
    browser, neighbour = console.browser("owner"), console.service.new_account("neighbour")
    other = console.browser("owner", neighbour)
    share: Share = console.app.extensions[EXTENSION]
    for _ in range(MOST_OF_ACCOUNT):
        assert share.hold(("account", str(console.service.account_id)), MOST_OF_ACCOUNT)
    assert browser.get("/").status_code == 429
    assert other.get("/").status_code == 200
    assert other.open(browser.path("/")).status_code != 429, "an account's share is its members' alone"
    assert browser.open("/me/profile").status_code == 200


@pytest.mark.parametrize(
    ("owner", "most", "elsewhere"),
    [(("address", "sign_in", "127.0.0.1"), MOST_OF_ADDRESS, 200), (("strangers", "sign_in"), MOST_OF_STRANGERS, 429)],
)
def test_people_who_are_not_signed_in_have_their_share_and_no_more(
    console: Console, owner: tuple[str, ...], most: int, elsewhere: int
) -> None:
    browser, stranger, share = console.browser("owner"), console.stranger(), console.app.extensions[EXTENSION]
    for _ in range(most):
        assert share.hold(owner, most)
    assert stranger.open("/sign-in").status_code == 429
    there = {"REMOTE_ADDR": "192.0.2.1"}
    assert stranger.open("/sign-in", environ_overrides=there).status_code == elsewhere
    assert stranger.open("/sign-in/oidc").status_code != 429, "the provider's people are counted apart"
    assert browser.get("/").status_code == 200
    share.release(owner)
    assert [stranger.open("/sign-in").status_code for _ in range(2 * most)] == [200] * 2 * most


def test_a_file_that_is_being_downloaded_is_held_until_its_end(console: Console) -> None:
    browser, share = console.browser("owner"), console.app.extensions[EXTENSION]
    download = browser.get("/opt-outs/opt-outs.csv", buffered=False)
    assert len(share) == 2, "the session and the account"
    download.close()
    assert len(share) == 0


def test_a_person_who_left_the_account_gets_no_live_parts(console: Console) -> None:
    stays, (leaves, person) = console.browser("owner"), second_owner(console)
    assert leaves.get("/now", headers=LIVE).status_code == 200
    console.service.transact(end_membership, console.service.account_id, person)
    console.service.reload_limits()
    assert stays.get("/now", headers=LIVE).status_code == 200
    refused = leaves.get("/now", headers=LIVE)
    assert "Credits" not in refused.text and refused.status_code != 200
