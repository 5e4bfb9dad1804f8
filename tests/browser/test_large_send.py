"""A file of 100,000 recipients, sent by real processes and watched to its end in the browser."""

import re
import time
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect, sync_playwright

from bulksms.local import services
from bulksms.local.ports import LOOPBACK, free_port
from shared.people.memberships import add_member
from shared.people.persons import create_person
from shared.people.sign_in_links import make_link
from tests.browser.conftest import CHROMIUM
from tests.harness.house import House, house

pytestmark = pytest.mark.browser

RECIPIENTS = 100_000
SECONDS = 240
MINUTE = 60_000
"""In milliseconds, as the browser counts them."""


def sign_in(service: House, page: Page, url: str) -> None:
    account = service.new_account()
    with service.engine.begin() as connection:
        person = create_person(connection, "ann@example.com", "Ann Otieno")
        assert person is not None
        add_member(connection, account, person, "sender")
        token = make_link(connection, person)
    page.goto(f"{url}/sign-in/link/{token}")
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("heading", name="Overview").wait_for()


def send_file(page: Page) -> None:
    rows = "phone,name\n" + "".join(f"{254720000000 + number},Person {number}\n" for number in range(RECIPIENTS))
    page.get_by_role("link", name="New message").first.click()
    page.locator("#kind-file").check()
    page.locator("#file").set_input_files({"name": "all.csv", "mimeType": "text/csv", "buffer": rows.encode()})
    page.get_by_role("button", name="Upload the file").click()
    page.get_by_text("100,000 rows").wait_for(timeout=MINUTE)
    page.get_by_label("From", exact=True).select_option("ACME")
    page.get_by_label("Message", exact=True).fill("Hello {{name}}")
    expect(page.locator("#quote .bubble")).to_have_text("Hello Person 0", timeout=MINUTE)
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="Send to 100,000 recipients").click(timeout=MINUTE)
    page.locator("#progress").wait_for(timeout=MINUTE)


def counts(page: Page) -> list[int]:
    """Delivered, sent, failed, in doubt and waiting, as the page shows them at one moment."""
    shown = page.locator("#progress .legend").inner_text()
    return [int(number.replace(",", "")) for number in re.findall(r"[\d,]+$", shown, re.MULTILINE)]


def test_it_works(tmp_path: Path) -> None:
    settings = {"TRUSTED_PROXIES": f"{LOOPBACK}/32", "CONSOLE_SECRET_KEY": "a-secret-key-of-the-consoles-tests"}
    with house(tmp_path, workers=2, **settings) as service, sync_playwright() as playwright:
        port = free_port()
        with services.console(port, service.port, service.env, tmp_path, Path.cwd()) as console:
            console.launch()
            console.wait_ready(60)
            page = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"]).new_page()
            sign_in(service, page, f"http://{LOOPBACK}:{port}")
            send_file(page)
            deadline, seen = time.monotonic() + SECONDS, list[int]()
            while (delivered := counts(page)[0]) < RECIPIENTS:
                assert sum(counts(page)) == RECIPIENTS
                assert time.monotonic() < deadline, f"{delivered} were delivered"
                seen.append(delivered)
                page.wait_for_timeout(500)
            assert seen == sorted(seen)
            expect(page.locator("#progress .status")).to_have_text("Completed")
