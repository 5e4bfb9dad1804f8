"""People of an account that is suspended or frozen see what is the matter, and can go elsewhere."""

import pytest
from sqlalchemy import text

from tests.harness.console import Console


def set_state(console: Console, state: str) -> None:
    """Suspend or freeze the account, as the operator and the audit do."""
    with console.service.engine.begin() as connection:
        connection.execute(
            text("UPDATE account SET state = :state WHERE id = :account"),
            {"state": state, "account": console.service.account_id},
        )
    console.service.reload_limits()
    console.app.extensions["bulksms_api"].tokens.clear()


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


def test_between_the_refusal_and_the_change_the_page_says_that_the_account_is_not_active(
    console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser = console.browser("owner")
    set_state(console, "frozen")
    monkeypatch.setattr("console.pages.errors.membership", lambda: {"status": "active"})
    page = browser.get("/").text
    assert "is not active</h1>" in page and "Ask the operator why it is not active." in page
