"""What a person does in every job: sign in, and notice what the browser complains about."""

from playwright.sync_api import ConsoleMessage, Page

from tests.harness.people import PASSWORD, Person


def errors_of(page: Page) -> list[str]:
    """What the browser complains about from now on: the policy for scripts and styles among it."""
    found: list[str] = []

    def note(message: ConsoleMessage) -> None:
        if message.type == "error":
            found.append(message.text)

    page.on("console", note)
    page.on("pageerror", lambda error: found.append(str(error)))
    return found


def sign_in(page: Page, url: str, person: Person) -> None:
    """Open the console and give e-mail address and password."""
    page.goto(url)
    page.get_by_label("E-mail address").fill(person.email)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.locator("main h1").wait_for()


def go_to(page: Page, name: str) -> None:
    """Follow a link of the menu beside the page."""
    page.locator("nav.side").get_by_role("link", name=name, exact=True).click()
