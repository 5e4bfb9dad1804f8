"""The days of a sender and of an owner, from one job to the next: run by `make browser`."""

import uuid

import pytest
from playwright.sync_api import Browser, expect
from standardwebhooks.webhooks import Webhook

from bulksms.local.postgres import Postgres
from tests.browser.conftest import Stand
from tests.browser.steps import errors_of, go_to, sign_in, sign_in_by_link
from tests.harness.console import console_of, serving
from tests.harness.database import disposable_database
from tests.harness.deliveries import deliver
from tests.harness.house import wait_until
from tests.harness.people import PASSWORD
from tests.harness.receiver import Post, receiver
from tests.harness.times import ahead

pytestmark = pytest.mark.browser

FAILS = "999010000093"
"""The simulated carrier reports that messages to it did not arrive."""


def test_a_senders_day(stand: Stand) -> None:
    """A send is paused, resumed, changed and canceled; a reply, an opt-out, a message found by its phone, the usage."""
    service = stand.console.service
    send = service.bulk(["254711000061", "254711000062"], "Doors open at 10", send_at=ahead()).json["send_id"]
    context = stand.browser.new_context()
    page = context.new_page()
    errors = errors_of(page)
    sign_in_by_link(stand, page, stand.console.person("sender"))
    page.goto(f"{stand.account}/sends/{send}")
    page.get_by_role("button", name="Pause").click()
    expect(page.locator("#progress .status")).to_have_text("Paused")
    page.get_by_role("button", name="Resume").click()
    expect(page.locator("#progress .status")).to_have_text("Scheduled")
    page.get_by_role("link", name="Change").first.click()
    page.get_by_label("Message", exact=True).fill("Doors open at 11")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("The send is changed.")).to_be_visible()
    assert service.get(f"/sends/{send}").json["message"] == "Doors open at 11"
    page.locator("summary", has_text="Cancel").click()
    page.get_by_role("button", name="Cancel").click()
    expect(page.locator("#progress .status")).to_have_text("Canceled")

    page.goto(f"{stand.account}/conversations/254711000003")
    page.get_by_label("From", exact=True).select_option("ACME")
    page.get_by_label("Reply").fill("See you at noon")
    expect(page.locator("#quote")).to_contain_text("Balance after")
    page.get_by_role("button", name="Send the reply").dblclick()
    expect(page.get_by_text("The reply is on its way.")).to_be_visible()
    replies = service.get("/messages?phone=254711000003&texts=true").json["data"]
    assert [each["text"] for each in replies].count("See you at noon") == 1

    page.get_by_role("link", name="Opt-outs").first.click()
    page.get_by_label("Phone numbers", exact=True).fill("+254 711 000 071")
    page.get_by_role("button", name="Add").click()
    expect(page.locator("main table")).to_contain_text("+254711000071")

    page.get_by_role("link", name="Messages").first.click()
    page.get_by_label("Phone").fill("+254 711 000 061")
    page.get_by_role("button", name="Search").click()
    page.locator("main table a").first.click()
    expect(page.locator(".timeline")).to_contain_text("Canceled")
    page.get_by_role("link", name="Usage").first.click()
    expect(page.get_by_role("heading", name="Usage")).to_be_visible()
    assert errors == []
    context.close()


def test_a_message_is_sent_to_a_group(stand: Stand) -> None:
    """From sign-in to the result: who got which text, that one had opted out, and that one message failed."""
    service = stand.console.service
    contacts = [("254712000091", "Amina"), ("254712000092", "Brian"), ("254712000094", "Chebet"), (FAILS, "David")]
    group = service.post("/groups", name=f"Guests {uuid.uuid4().hex[:6]}").json["group_id"]
    entries = [{"phone": phone, "fields": {"name": name}} for phone, name in contacts]
    service.post(f"/groups/{group}/contacts", contacts=entries)
    service.post("/suppressions", phones=["254712000094"], reason="asked by phone")
    context = stand.browser.new_context()
    page = context.new_page()
    errors = errors_of(page)
    sign_in(page, stand.url, stand.console.person("sender"))
    page.get_by_role("link", name="New message").first.click()
    page.locator("#kind-group").check()
    page.get_by_role("combobox", name="Group").select_option(group)
    page.get_by_label("From", exact=True).select_option("ACME")
    page.get_by_label("Message", exact=True).fill("Hi {{name}}, your table is ready")
    expect(page.locator("#quote .bubble")).to_have_text("Hi Amina, your table is ready")
    page.get_by_label("Preview for", exact=True).select_option(label="+254712000092")
    expect(page.locator("#quote .bubble")).to_have_text("Hi Brian, your table is ready")
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="Send to 4 recipients").dblclick()
    expect(page.get_by_role("heading", name="3 recipients")).to_be_visible()
    service.deliver_receipts()
    expect(page.locator("#progress .legend .delivered b")).to_have_text("2")
    expect(page.locator("#progress .legend .failed b")).to_have_text("1")
    expect(page.locator("#progress .status")).to_have_text("Completed")
    expect(page.locator("#reasons table")).to_contain_text("1")
    page.get_by_role("link", name="Recipients", exact=True).click()
    expect(page.locator("main tbody tr")).to_have_count(3)
    page.get_by_label("State").select_option("undelivered")
    page.get_by_role("button", name="Filter").click()
    expect(page.locator("main tbody tr")).to_have_count(1)
    page.locator("main tbody a").first.click()
    expect(page.locator(".bubble")).to_have_text("Hi David, your table is ready")
    assert len(service.get(f"/messages?phone={contacts[0][0]}").json["data"]) == 1
    assert errors == []
    context.close()


def test_an_owners_day(stand: Stand) -> None:
    """A sender ID is asked for, a key made, and a colleague invited, who accepts with a password."""
    context = stand.context()
    page = context.new_page()
    errors = errors_of(page)
    page.goto(stand.account + "/sender-ids/")
    page.get_by_label("Sender ID", exact=True).fill("ROASTERY")
    page.get_by_role("button", name="Request").click()
    expect(page.get_by_role("row").filter(has_text="ROASTERY")).to_contain_text("Pending")
    page.goto(stand.account + "/api-keys/new")
    page.get_by_label("Name").fill("Till")
    page.locator("main form button").last.click()
    expect(page.locator(".secret").first).to_be_visible()
    page.goto(stand.account + "/people/")
    page.get_by_label("E-mail address").fill(f"colleague-{uuid.uuid4().hex}@example.com")
    page.get_by_role("button", name="Create the invitation").click()
    link = page.locator(".secret code").inner_text()
    assert errors == []
    context.close()
    path = "/invitations/" + link.rpartition("/")[2]
    context = stand.browser.new_context()
    page = context.new_page()
    errors = errors_of(page)
    page.goto(stand.url + path)
    page.locator("#name").fill("Wairimu Njeri")
    page.locator("#password").fill(PASSWORD)
    page.locator("#password").press("Enter")
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()
    assert errors == []
    context.close()


def test_a_webhook_gets_a_test_event(chromium: Browser, postgres_server: Postgres) -> None:
    """On an installation of its own, that posts to this machine: a test event is refused there, and posted again."""

    def respond(_: Post) -> int:
        return 500 if len(there.posts) == 1 else 204

    def posted_again() -> bool:
        deliver(console.service)
        return len(there.posts) == 2

    with (
        disposable_database(postgres_server) as engine,
        console_of(engine, webhook_loopback=True) as console,
        serving(console.app) as url,
        receiver(respond) as there,
        chromium.new_context() as context,
    ):
        page = context.new_page()
        errors = errors_of(page)
        sign_in(page, url, console.person("owner"))
        go_to(page, "Webhooks")
        page.get_by_role("link", name="New webhook").click()
        page.get_by_label("Address").fill(there.url)
        page.get_by_role("button", name="Create the webhook").click()
        secret = page.locator(".secret code").inner_text()
        page.get_by_role("link", name="Back to the webhook").click()
        page.get_by_role("button", name="Send a test event").dblclick()
        expect(page.get_by_text("A test event is on its way.")).to_be_visible()
        deliver(console.service)
        page.reload()
        row = page.locator("main tbody tr")
        expect(row).to_have_count(1)
        expect(row.locator("[data-label=Answer]")).to_contain_text("500")
        row.get_by_role("button", name="Post again").click()
        expect(page.get_by_text("The event will be posted again.")).to_be_visible()
        wait_until(posted_again, 60, "the end of the webhook's rest")
        page.reload()
        expect(row.locator("[data-label=Answer]")).to_have_text("204")
        expect(row.locator("[data-label=State]")).to_have_text("Delivered")
        refused, taken = there.posts
        assert refused.id == taken.id
        Webhook(secret).verify(taken.body, taken.headers)
        assert errors == []
