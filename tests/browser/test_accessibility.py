"""axe-core finds nothing on any page, in both themes, on a phone and in German; nothing is wider than the screen."""

import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page

from shared.people.invitations import invite
from shared.people.memberships import add_member
from shared.people.second_factor import STEP_SECONDS, code_at
from tests.browser import pages
from tests.browser.conftest import Stand
from tests.harness.people import PASSWORD
from tests.integration.console.test_ended_sessions import end

pytestmark = pytest.mark.slow
AXE = Path(__file__).parent / "vendor" / "axe.min.js"
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
WIDE, NARROW = {"width": 1280, "height": 900}, {"width": 360, "height": 740}
SCREENS: dict[str, dict[str, Any]] = {
    "light": {"viewport": WIDE, "color_scheme": "light"},
    "dark": {"viewport": WIDE, "color_scheme": "dark"},
    "phone": {"viewport": NARROW, "color_scheme": "light"},
    "dark phone": {"viewport": NARROW, "color_scheme": "dark"},
    "German phone": {"viewport": NARROW, "color_scheme": "light", "locale": "de-DE"},
}
EVERY_SCREEN = pytest.mark.parametrize(
    "screen", [pytest.param(name, marks=() if name == "phone" else pytest.mark.browser) for name in SCREENS]
)
EVERY_OTHER_SCREEN = pytest.mark.parametrize(
    "screen", [pytest.param(name, marks=pytest.mark.browser) for name in SCREENS]
)
"""For what is looked at by `make browser` only."""
SUBMIT = """
    ({path, fields}) => {
        const form = document.createElement('form');
        Object.assign(form, {method: 'post', action: path, enctype: 'multipart/form-data'});
        const tokens = document.querySelectorAll('input[name=csrf_token]');
        const carried = Object.fromEntries([...tokens].map(token => [token.name, token.value]));
        for (const [name, value] of Object.entries({...carried, ...fields})) {
            const input = document.createElement('input');
            input.name = name;
            if (value.includes('\\n')) {
                const files = new DataTransfer();
                files.items.add(new File([value], 'file.csv', {type: 'text/csv'}));
                input.type = 'file';
                input.files = files.files;
            } else input.value = value;
            form.append(input);
        }
        document.body.append(form);
        form.submit();
    }
"""


def violations(page: Page) -> list[str]:
    """What axe-core finds on the page, each with its first element."""
    page.evaluate(AXE.read_text())
    found: Any = page.evaluate("rules => axe.run(document, {runOnly: {type: 'tag', values: rules}})", RULES)
    return [f"{each['id']}: {each['nodes'][0]['html'][:200]}" for each in found["violations"]]


def wrong_with(page: Page) -> list[str]:
    """The same, and whether the page is wider than the screen."""
    wide = page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth")
    return violations(page) + (["wider than the screen"] if wide else [])


class Look:
    """Looks at pages in one window, and remembers what is wrong with them."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.found: dict[str, list[str]] = {}
        self.seen: set[str] = set()

    def now(self, name: str) -> None:
        """Look at the page that is open."""
        assert name not in self.seen
        self.seen.add(name)
        if wrong := wrong_with(self.page):
            self.found[name] = wrong

    def at(self, addresses: Mapping[str, str]) -> None:
        """Open each and look at it."""
        for name, address in addresses.items():
            self.page.goto(address, wait_until="load")
            self.now(name)

    def after(self, start: str, base: str, forms: Mapping[str, pages.Posted]) -> None:
        """Send each form from a page at `start`, and look at what follows."""
        for name, form in forms.items():
            self.page.goto(start, wait_until="load")
            with self.page.expect_navigation(wait_until="load"):
                self.page.evaluate(SUBMIT, {"path": base + form.path, "fields": form.fields})
            self.now(name)


@contextmanager
def looking(context: BrowserContext) -> Iterator[Look]:
    """A look with this window; fails at the end if anything was found."""
    inspector = Look(context.new_page())
    yield inspector
    context.close()
    assert inspector.found == {}


def below(base: str, paths: Mapping[str, str]) -> dict[str, str]:
    return {name: base + path for name, path in paths.items()}


@EVERY_OTHER_SCREEN
def test_every_page_is_accessible(stand: Stand, screen: str) -> None:
    with looking(stand.context(bypass_csp=True, **SCREENS[screen])) as inspector:
        inspector.at(below(stand.account, pages.pages_of(stand.console)))
        inspector.at(below(stand.url, pages.persons_pages()))
        inspector.at({"test mode": stand.account.removesuffix("live") + "test/"})


@EVERY_OTHER_SCREEN
def test_every_operator_page_is_accessible(stand: Stand, screen: str) -> None:
    with looking(stand.operator(bypass_csp=True, **SCREENS[screen])) as inspector:
        inspector.at(below(stand.url, pages.operators_pages(stand.console)))


@EVERY_OTHER_SCREEN
def test_every_page_after_a_form_is_accessible(stand: Stand, screen: str) -> None:
    objects = pages.objects_of(stand.console)
    with looking(stand.context(bypass_csp=True, **SCREENS[screen])) as inspector:
        start = stand.url + "/me/security"
        inspector.after(start, stand.account, pages.forms_of(pages.FORMS_OF_ACCOUNT, **objects))
        inspector.after(start, stand.url, pages.forms_of(pages.FORMS_OF_PERSON, **objects))
        inspector.at({"search with errors": stand.account + pages.WRONG_SEARCHES["search with errors"]})
    with looking(stand.operator(bypass_csp=True, **SCREENS[screen])) as inspector:
        inspector.after(stand.url + "/me/security", stand.url, pages.forms_of(pages.FORMS_OF_OPERATOR, **objects))


@EVERY_SCREEN
def test_the_pages_before_sign_in_are_accessible(stand: Stand, screen: str) -> None:
    console = stand.console
    email = pages.objects_of(console)["new"] + "@example.com"
    invited = console.service.transact(invite, email, console.service.account_id, "viewer").token
    objects = {"link": console.link(console.person()), "invited": invited}
    with looking(stand.browser.new_context(bypass_csp=True, **SCREENS[screen])) as inspector:
        inspector.at({name: stand.url + path.format(**objects) for name, path in pages.OF_STRANGERS.items()})
        inspector.after(stand.url + "/sign-in", stand.url, pages.forms_of(pages.FORMS_OF_STRANGERS, **objects))


@EVERY_OTHER_SCREEN
def test_the_pages_of_a_new_person_are_accessible(stand: Stand, screen: str) -> None:
    """The choice of an account, what a viewer may not see, the second factor and its recovery codes."""
    with looking(stand.browser.new_context(bypass_csp=True, **SCREENS[screen])) as inspector:
        page, link = inspector.page, pages.person_of_two_accounts(stand.console)
        page.goto(f"{stand.url}/sign-in/link/{link}")
        with page.expect_navigation(wait_until="load"):
            page.locator("main button").click()
        inspector.at({"choice of an account": stand.url + "/", "not allowed": stand.account + "/compose/"})
    person = stand.console.person("viewer")
    with looking(stand.browser.new_context(bypass_csp=True, **SCREENS[screen])) as inspector:
        page = inspector.page
        page.goto(f"{stand.url}/sign-in/link/{stand.console.link(person)}")
        with page.expect_navigation(wait_until="load"):
            page.locator("main button").click()
        page.goto(stand.url + "/me/security")
        with page.expect_navigation(wait_until="load"):
            page.evaluate(SUBMIT, {"path": "/me/totp", "fields": {"password": PASSWORD}})
        secret = page.locator(".secret code").inner_text()
        page.locator("#code").fill(code_at(re.sub(r"\s", "", secret), int(time.time() // STEP_SECONDS)))
        page.locator("#code").press("Enter")
        page.locator(".codes").wait_for()
        inspector.now("recovery codes")
        page.context.clear_cookies()
        page.goto(stand.url + "/sign-in")
        page.locator("#email").fill(person.email)
        page.locator("#password").fill(PASSWORD)
        page.locator("#password").press("Enter")
        page.locator("#code").wait_for()
        inspector.now("code at sign-in")
        page.locator("#code").fill("x")
        page.locator("#code").press("Enter")
        page.locator("#code-error").wait_for()
        inspector.now("code at sign-in with errors")


@EVERY_OTHER_SCREEN
def test_the_pages_around_an_ended_session_are_accessible(stand: Stand, screen: str) -> None:
    person = stand.console.person("sender")
    with looking(stand.browser.new_context(bypass_csp=True, **SCREENS[screen])) as inspector:
        page = inspector.page
        page.goto(f"{stand.url}/sign-in/link/{stand.console.link(person)}")
        with page.expect_navigation(wait_until="load"):
            page.locator("main button").click()
        page.goto(stand.account + "/compose/")
        end(stand.console, person)
        page.locator("#message").fill("Your table is ready.")
        page.locator("#signed-out .notice").wait_for()
        inspector.now("message of an ended session")
        with page.expect_navigation(wait_until="load"):
            page.evaluate(SUBMIT, {"path": f"{stand.account}/groups/", "fields": {"name": " VIP ", "key": "vip"}})
        inspector.now("sign-in after an ended session")
        page.locator("#email").fill(person.email)
        page.locator("#password").fill(PASSWORD)
        page.locator("#password").press("Enter")
        page.locator("textarea[name=name]").wait_for(state="attached")
        inspector.now("signed in again")
        with page.expect_navigation(wait_until="load"):
            page.locator("main form button").click()
        inspector.now("form that is shown again")


@EVERY_OTHER_SCREEN
def test_the_page_of_an_account_that_is_not_active_is_accessible(stand: Stand, screen: str) -> None:
    service = stand.console.service
    account = service.new_account("Closed for the winter")
    person = stand.console.person("viewer", account)
    with service.engine.begin() as connection:
        add_member(connection, service.account_id, person.id, "viewer")
        connection.exec_driver_sql("UPDATE account SET state = 'frozen' WHERE id = %s", (account,))
    with looking(stand.browser.new_context(bypass_csp=True, **SCREENS[screen])) as inspector:
        inspector.page.goto(f"{stand.url}/sign-in/link/{stand.console.link(person)}")
        with inspector.page.expect_navigation(wait_until="load"):
            inspector.page.locator("main button").click()
        inspector.at({"account that is not active": f"{stand.url}/accounts/{account}/live/"})
