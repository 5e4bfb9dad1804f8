"""Takes the pictures of docs/guides/console.md: `python -m tests.browser.pictures`, which is `make pictures`.

With an argument, they go into that folder.
"""

import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser.conftest import CHROMIUM
from tests.browser.pages import pages_of
from tests.harness.console import Console, console_of, serving
from tests.harness.console_demo import furnish, furnish_operation, go_on_sending, operator, owner
from tests.harness.database import disposable_database
from tests.harness.people import Person
from tests.harness.servers import make_migrated_postgres

PICTURES = Path(__file__).parent.parent.parent / "docs" / "guides" / "pictures"
WIDE = {"width": 1280, "height": 900}
LOW = {"width": 1280, "height": 640}
OF_OPERATOR = {"carriers": "/operator/carriers/", "sender-ids": "/operator/sender-ids/"}


def main(folder: Path) -> None:
    """Furnish an account and take the pictures."""
    with tempfile.TemporaryDirectory() as data:
        Path(data).chmod(0o755)  # Postgres may run as another user
        with make_migrated_postgres(Path(data), durable=False) as postgres:
            postgres.start()
            with disposable_database(postgres) as engine, console_of(engine) as console:
                furnish(console)
                go_on_sending(console)
                with serving(console.app) as url, sync_playwright() as playwright:
                    browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
                    take_of_account(console, signed_in(browser, url, console, owner(console)), url, folder)
                    furnish_operation(console)
                    take_of_operator(signed_in(browser, url, console, operator(console)), url, folder)
                    browser.close()
    print(f"The pictures are in {folder}.", file=sys.stderr)


def signed_in(browser: Browser, url: str, console: Console, person: Person) -> Page:
    """A window in which the person is signed in."""
    page = browser.new_context(viewport=WIDE).new_page()
    page.goto(f"{url}/sign-in/link/{console.link(person)}")
    page.get_by_role("button", name="Sign in").click()
    page.locator("main h1").wait_for()
    return page


def take_of_account(console: Console, page: Page, url: str, folder: Path) -> None:
    """Take those of the account's pages."""
    account = f"{url}/accounts/{console.service.account_id}/live"
    paths = pages_of(console)
    running = console.service.get("/sends?status=sending").json["data"][0]["send_id"]
    paths |= {"compose": paths["new message to a group"], "send": f"/sends/{running}"}
    for name in ("overview", "compose", "send"):
        page.goto(account + paths[name], wait_until="networkidle")
        page.screenshot(path=folder / f"{name}.png", full_page=name == "overview")
    page.set_viewport_size({"width": 390, "height": 760})
    page.emulate_media(color_scheme="dark")
    page.goto(account + paths["send"], wait_until="networkidle")
    page.screenshot(path=folder / "phone.png")


def take_of_operator(page: Page, url: str, folder: Path) -> None:
    """Take those of the operator's pages."""
    page.set_viewport_size(LOW)
    for name, path in OF_OPERATOR.items():
        page.goto(url + path, wait_until="networkidle")
        page.screenshot(path=folder / f"{name}.png")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else PICTURES)
