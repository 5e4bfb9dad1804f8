"""What an operator does on a bad day: doubts resolved by a carrier's report, and the guard released."""

import pytest
from playwright.sync_api import Browser, expect

from bulksms.local.postgres import Postgres
from tests.browser.conftest import Stand
from tests.browser.steps import errors_of, go_to, sign_in
from tests.harness.console import console_of, serving
from tests.harness.database import disposable_database
from tests.harness.people import a_person

pytestmark = pytest.mark.browser

IN_DOUBT = [str(99_906_800_001 + number) for number in range(3)]
"""The simulated carrier leaves messages to these in doubt."""
REPORT = f"phone,status\n{IN_DOUBT[0]},delivered\n{IN_DOUBT[1]},failed\nnonsense,delivered\n"


def test_doubts_are_resolved_by_a_carriers_report(stand: Stand) -> None:
    service = stand.console.service
    send = service.bulk(IN_DOUBT, "Doors open at 9").json["send_id"]
    balance = service.get("/balance").json["balance"]
    context = stand.browser.new_context()
    page = context.new_page()
    errors = errors_of(page)
    sign_in(page, stand.url, a_person(service, None, operator_role="admin"))
    go_to(page, "In doubt")
    page.get_by_label("Send", exact=True).fill(send)
    page.get_by_role("button", name="Filter").click()
    rows = page.locator("main tbody tr")
    expect(rows).to_have_count(3)
    carrier = rows.first.locator("[data-label=Carrier]").inner_text()
    page.get_by_role("link", name="Use a carrier's report").click()
    page.get_by_label("Carrier", exact=True).fill(carrier)
    page.get_by_label("File", exact=True).set_input_files(
        {"name": "report.csv", "mimeType": "text/csv", "buffer": REPORT.encode()}
    )
    page.get_by_role("button", name="Preview the result").click()
    expect(page.get_by_role("heading", name="What it would resolve")).to_be_visible()
    expect(page.locator("main")).to_contain_text("4: 'nonsense' is not a phone")
    assert service.get(f"/sends/{send}").json["counts"]["in_doubt"] == 3
    page.get_by_role("button", name="Resolve 2 messages").dblclick()
    expect(page.locator(".tile.good").filter(has_text="Resolved").locator("dd")).to_have_text("2")
    page.get_by_role("link", name="Back to messages in doubt").click()
    page.get_by_label("Send", exact=True).fill(send)
    page.get_by_role("button", name="Filter").click()
    expect(rows).to_have_count(1)
    counts = service.counts(send)
    assert {name: counts.get(name) for name in ("delivered", "in_doubt")} == {"delivered": 1, "in_doubt": 1}
    assert service.get("/balance").json["balance"] == balance + 1  # of the one that failed
    go_to(page, "Audit log")
    expect(page.locator("main table")).to_contain_text("doubt")
    assert errors == []
    context.close()


def test_the_guard_is_released(chromium: Browser, postgres_server: Postgres) -> None:
    """On an installation of its own: nothing is sent meanwhile, and everything afterwards."""
    with disposable_database(postgres_server) as engine, console_of(engine) as console:
        service = console.service
        with engine.begin() as connection:
            connection.exec_driver_sql("UPDATE installation SET held_since = now(), held_reason = 'It was restored.'")
        send = service.bulk(["254711000001", "254711000002"], "Doors open at 9").json["send_id"]
        service.sweep()
        assert service.submitted() == {}
        with serving(console.app) as url, chromium.new_context() as context:
            page = context.new_page()
            errors = errors_of(page)
            sign_in(page, url, a_person(service, None, operator_role="admin"))
            go_to(page, "Health")
            expect(page.locator("#guard")).to_contain_text("It was restored.")
            page.get_by_role("link", name="Release the guard").click()
            page.get_by_label("Continue open sends").check()
            page.get_by_label("Reason").fill("the old database is off")
            page.get_by_role("button", name="Release the guard").dblclick()
            expect(page.get_by_text("Sending has resumed.")).to_be_visible()
            expect(page.locator("#guard .status")).to_have_text("Messages are sent")
            go_to(page, "Audit log")
            expect(page.locator("main table")).to_contain_text("the old database is off")
            assert errors == []
        service.sweep()
        service.deliver_receipts()
        assert service.counts(send)["delivered"] == 2
