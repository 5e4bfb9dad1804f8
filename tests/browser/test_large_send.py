"""A file of 100,000 recipients, sent by real processes and watched to its end in the browser."""

import re
import time
from pathlib import Path
from typing import NamedTuple

import pytest
from playwright.sync_api import Browser, Page, expect

from bulksms.local import services
from bulksms.local.ports import LOOPBACK, free_port
from shared.people.memberships import add_member
from shared.people.persons import create_person
from shared.people.sign_in_links import make_link
from tests.harness.house import House, house

pytestmark = pytest.mark.browser

RECIPIENTS = 100_000
SECONDS = 240
MINUTE = 60_000
"""In milliseconds, as the browser counts them."""
SHOWN = """
    () => {
        const texts = (selector) => [...document.querySelectorAll(selector)].map((each) => each.textContent.trim());
        const titles = texts('#progress .tile dt'), values = texts('#progress .tile dd:not(.note)');
        return [texts('#progress .legend b'), titles.map((title, place) => [title, values[place]])];
    }
"""


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


class Shown(NamedTuple):
    """What the page shows of a send at one moment."""

    counts: list[int]
    """Delivered, sent, failed, in doubt, canceled and waiting."""
    tiles: dict[str, str]
    """Such as the messages per second, by their titles."""


def shown(page: Page) -> Shown:
    legend, tiles = page.evaluate(SHOWN)
    return Shown([int(each.replace(",", "")) for each in legend], dict(tiles))


def test_it_works(tmp_path: Path, chromium: Browser) -> None:
    """The counts add up at each moment and rise, with speed and expected end, and the page is never loaded again."""
    settings = {"TRUSTED_PROXIES": f"{LOOPBACK}/32", "CONSOLE_SECRET_KEY": "a-secret-key-of-the-consoles-tests"}
    with house(tmp_path, workers=2, **settings) as service, chromium.new_context() as context:
        port = free_port()
        with services.console(port, service.port, service.env, tmp_path, Path.cwd()) as console:
            console.launch()
            console.wait_ready(60)
            page = context.new_page()
            sign_in(service, page, f"http://{LOOPBACK}:{port}")
            send_file(page)
            page.evaluate("window.loadedOnce = true")
            deadline, seen = time.monotonic() + SECONDS, [shown(page)]
            while seen[-1].counts[0] < RECIPIENTS:
                assert time.monotonic() < deadline, f"{seen[-1].counts[0]} were delivered"
                page.wait_for_timeout(500)
                seen.append(shown(page))
            assert page.evaluate("window.loadedOnce")
            expect(page.locator("#progress .status")).to_have_text("Completed")
    assert [sum(each.counts) for each in seen] == [RECIPIENTS] * len(seen)
    delivered = [each.counts[0] for each in seen]
    assert delivered == sorted(delivered)
    under_way = [each for each in seen if 0 < each.counts[0] < RECIPIENTS]
    assert len({each.counts[0] for each in under_way}) > 1, delivered
    speeds = {each.tiles["Messages per second"] for each in under_way}
    assert all(re.fullmatch(r"[\d,]+(\.\d)?", each) for each in speeds) and len(speeds) > 1, speeds
    ends = [each.tiles["Expected to finish"] for each in under_way if "Expected to finish" in each.tiles]
    assert any(re.search(r"\d:\d\d", each) for each in ends), ends
    assert re.search(r"\d:\d\d", seen[-1].tiles["Ended"])
