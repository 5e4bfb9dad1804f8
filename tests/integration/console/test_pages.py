"""Every page of an account opens, for each role and in both worlds, or is refused; also of one that is not active."""

from datetime import UTC, datetime

import pytest

from console.views import ACCOUNT_PAGES
from tests.harness.console import Console
from tests.integration.verifications.test_verifications import check, code_in, start


def pages_of_the_account(console: Console) -> list[str]:
    """The paths of all pages that need no object."""
    prefix = "/accounts/<account_id>/<any(live, test):world>"
    rules = [rule for rule in console.app.url_map.iter_rules() if rule.rule.startswith(prefix)]
    return [
        rule.rule.removeprefix(prefix)
        for rule in rules
        if "GET" in (rule.methods or ()) and rule.arguments == {"account_id", "world"}
    ]


@pytest.mark.parametrize("world", ["live", "test"])
def test_an_owner_sees_every_page(console: Console, world: str) -> None:
    owner = console.browser("owner")
    paths = pages_of_the_account(console)
    assert len(paths) > len(ACCOUNT_PAGES)
    for path in paths:
        page = owner.get(path, world)
        if world == "test" and path.startswith(("/people/", "/changes/")):
            assert page.status_code == 403  # a sandbox has no people of its own
            continue
        assert page.status_code in (200, 302), (path, page.text)


@pytest.mark.parametrize(("until", "status"), [("2024-12-31", 200), ("2025-01-01", 400)])
def test_usage_is_shown_for_a_year_at_most(console: Console, until: str, status: int) -> None:
    page = console.browser().get(f"/usage/?since=2024-01-01&until={until}")
    assert (page.status_code, "Choose at most a year." in page.text) == (status, status == 400)
    assert f'value="{until}"' in page.text


def test_a_statement_is_shown(console: Console) -> None:
    browser = console.browser("viewer")
    console.service.bulk(["254711000001", "254711000002"])
    month = f"{datetime.now(UTC):%Y-%m}"
    assert f"/credits/statements/{month}" in browser.get("/credits/").text
    page = browser.get(f"/credits/statements/{month}").text
    assert "Opening balance" in page and "Charged" in page and f"since={month}-01" in page
    assert browser.get("/credits/statements/2000-01").status_code == 404


def test_rates(console: Console) -> None:
    owner = console.browser("owner")
    assert "No one-time passwords in this period" in owner.get("/verifications/").text
    started = [start(console.service, phone).json for phone in ("254755000001", "254755000002", "4915112340001")]
    check(console.service, started[0], code_in(console.service, started[0]))
    page = owner.get("/verifications/").text
    assert ">KE</td>" in page
    assert ">50%</td>" in page
    assert ">254755</td>" in owner.get("/verifications/?by=prefix").text
    wrong = owner.get("/verifications/?since=yesterday")
    assert wrong.status_code == 400
    assert "/verifications/" not in console.operator("support").get("/operator/accounts/").text


def test_settings(console: Console) -> None:
    admin, account = console.operator("admin"), f"/operator/accounts/{console.service.account_id}"
    page = f"{account}/verification"
    typed = {"code_digits": "8", "valid_minutes": "5", "max_checks": "3", "max_sends": "2", "pause_seconds": "60"}
    admin.open(page)
    refused = admin.submit(page, **typed | {"max_sends": "x"}, texts="en: Your code", reason="ticket 7")
    assert refused.status_code == 400
    assert "`max_sends` is a whole number from 1 to 10." in refused.text
    admin.open(page)
    refused = admin.submit(page, **typed, texts="en: Your code", reason="ticket 7")
    assert "The text for en must have {{code}}" in refused.text
    admin.open(page)
    changed = admin.submit(page, **typed, texts="en: {{code}}: our shop.\nxx: {{code}}\n", reason="ticket 7")
    assert changed.status_code == 302
    assert "xx: {{code}}" in admin.open(page).text
    started = start(console.service, "254755000009").json
    assert len(code_in(console.service, started)) == 8


def set_state(console: Console, state: str) -> None:
    """Suspend or freeze the account, as the operator and the audit do."""
    console.service.execute(
        "UPDATE account SET state = :state WHERE id = :account", state=state, account=console.service.account_id
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
