"""Sends and messages in the console: progress that adds up, control, reasons, recipients, search."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from html import unescape

import pytest
from werkzeug.test import TestResponse

from tests.harness.console import Browser, Console
from tests.harness.live_workers import report_carrier
from tests.harness.times import ahead
from worker.jobs.export_messages import export_page


def scheduled(console: Console, message: str = "Doors open at 9") -> str:
    """A send that waits for tomorrow."""
    return str(console.service.bulk(["254711000001", "254711000002"], message, send_at=ahead()).json["send_id"])


def typed_time(days: int) -> str:
    """A time in some days, as it is typed into a form by somebody whose time zone is UTC."""
    return f"{datetime.now(UTC) + timedelta(days=days):%Y-%m-%dT%H:%M}"


def change_form(browser: Browser, send: str) -> dict[str, str]:
    """The fields of the form that changes a send, as its page shows them."""
    page = browser.get(f"/sends/{send}/change").text
    form = page[page.index('<form method="post" class="card"') :].partition("</form>")[0]
    values = dict(re.findall(r'<input[^>]* name="(\w+)"[^>]* value="([^"]*)"', form))
    area = re.search(r'<textarea[^>]*name="message"[^>]*>\n(.*?)</textarea>', form, re.DOTALL)
    values |= {"message": re.sub(r"\r\n|\r|\n", "\r\n", area[1])} if area else {}
    return {name: unescape(value) for name, value in values.items()}


def change(browser: Browser, send: str, **typed: str) -> TestResponse:
    """Open the form, type into it and save it."""
    return browser.post(f"/sends/{send}/change", **{**change_form(browser, send), **typed})


def test_it_works(console: Console) -> None:
    send = console.service.bulk(["254711000001", "254711000002", "0711"], "Hi there").json["send_id"]
    console.service.deliver_receipts()
    browser = console.browser("viewer")
    assert "Hi there" in browser.get("/sends/").text
    page = browser.get(f"/sends/{send}")
    assert "2 recipients" in page.text and "100%" in page.text
    assert "/cancel" not in page.text and "/pause" not in page.text


def test_a_send_is_paused_resumed_and_canceled(console: Console) -> None:
    browser, send = console.browser("sender"), scheduled(console)
    for action, status, notice in (
        ("pause", "paused", "The send is paused."),
        ("resume", "scheduled", "The send has resumed."),
        ("cancel", "canceled", "Send canceled. Unused credits have been released."),
    ):
        browser.get(f"/sends/{send}")
        page = browser.post(f"/sends/{send}/{action}", follow=True)
        assert notice in page.text
        assert console.service.get(f"/sends/{send}").json["status"] == status
    late = browser.post(f"/sends/{send}/pause", follow=True)
    assert late.status_code == 200 and "This is no longer possible" in late.text


def test_a_send_that_its_canary_holds_can_be_paused_or_resumed(console: Console) -> None:
    send = console.service.bulk(["254711000001", "254711000002"], canary=1).json["send_id"]
    console.service.sweep()
    browser = console.browser("sender")
    page = browser.get(f"/sends/{send}").text
    assert "/pause" in page and "/resume" in page
    assert "The send is paused." in browser.post(f"/sends/{send}/pause", follow=True).text


def test_a_waiting_send_is_changed(console: Console) -> None:
    browser, send = console.browser("sender"), scheduled(console)
    assert change(browser, send, message="Doors open at 10").status_code == 302
    changed = console.service.get(f"/sends/{send}").json
    assert changed["message"] == "Doors open at 10"
    wrong = change(browser, send, rate="quick")
    assert wrong.status_code == 400 and 'id="rate-error"' in wrong.text and 'value="quick"' in wrong.text


@pytest.mark.parametrize("message", ["Hello ", "\nOne\nTwo", "One\r\nTwo\rThree"])
def test_a_text_that_nobody_has_edited_stays_as_it_is(console: Console, message: str) -> None:
    send = scheduled(console, message)
    browser, before = console.browser("sender"), console.service.get(f"/sends/{send}").json["message"]
    assert change(browser, send, rate="7").status_code == 302
    changed = console.service.get(f"/sends/{send}").json
    assert (changed["rate"], changed["message"]) == (7, before)


def test_what_others_have_changed_meanwhile_stays(console: Console) -> None:
    mine, others, send = console.browser("sender"), console.browser("sender"), scheduled(console)
    form = change_form(mine, send)
    later = typed_time(days=2)
    assert change(others, send, message="Doors open at 10", send_at=later).status_code == 302
    assert mine.post(f"/sends/{send}/change", **{**form, "rate": "5"}).status_code == 302
    now = console.service.get(f"/sends/{send}").json
    assert (now["message"], now["send_at"][:16], now["rate"]) == ("Doors open at 10", later, 5)


def test_a_value_that_somebody_else_has_changed_too_is_not_replaced_unseen(console: Console) -> None:
    mine, others, send = console.browser("sender"), console.browser("sender"), scheduled(console)
    later, theirs = typed_time(days=2), typed_time(days=3)
    form = {**change_form(mine, send), "message": "Doors open at 11", "send_at": later, "rate": "5"}
    assert change(others, send, message="Doors open at <10>", send_at=theirs).status_code == 302
    page = mine.post(f"/sends/{send}/change", **form)
    assert page.status_code == 400 and set(re.findall(r'id="(\w+)-error"', page.text)) == {"message", "send_at"}
    assert "It is now: Doors open at &lt;10&gt;. Save again" in page.text
    assert f"It is now: {datetime.fromisoformat(theirs):%-d %b %Y, %H:%M}. Save again" in page.text
    now = console.service.get(f"/sends/{send}").json
    assert (now["message"], now["rate"]) == ("Doors open at <10>", None)
    shown = {name: unescape(text) for name, text in re.findall(r'name="(shown_\w+)" value="([^"]*)"', page.text)}
    assert "Doors open at 11" in page.text and 'value="5"' in page.text
    assert mine.post(f"/sends/{send}/change", **{**form, **shown}).status_code == 302
    now = console.service.get(f"/sends/{send}").json
    assert (now["message"], now["send_at"][:16], now["rate"]) == ("Doors open at 11", later, 5)


def test_a_form_that_does_not_say_what_it_showed_replaces_nothing_unseen(console: Console) -> None:
    browser, send = console.browser("sender"), scheduled(console)
    forged = {"shown_message": "", "zone": "nonsense"}
    page = change(browser, send, **forged, message="Doors open at 10")
    assert page.status_code == 400 and "It is now: Doors open at 9." in page.text
    assert console.service.get(f"/sends/{send}").json["message"] == "Doors open at 9"


def test_the_page_of_a_send_refreshes_itself_until_the_send_ends(console: Console) -> None:
    browser, send = console.browser(), scheduled(console)
    part = browser.get(f"/sends/{send}/progress", headers={"HX-Request": "true"})
    assert "<html" not in part.text and 'hx-trigger="every 10s, reasons-loaded from:body"' in part.text
    console.service.post(f"/sends/{send}/cancel")
    assert "hx-get" not in browser.get(f"/sends/{send}/progress").text


@pytest.fixture
def under_way(console: Console) -> Iterator[str]:
    """A send to two that has its own rate, and a carrier that takes it."""
    phones = ["254711000001", "254711000002"]
    send = console.service.bulk(phones, "Doors open at 9", send_at=ahead(), rate=1).json["send_id"]
    console.service.execute(
        "UPDATE send SET state = 'sending', send_at = NULL, paced_until = now() + interval '1 hour' WHERE id = :send",
        send=send,
    )
    report_carrier(console.service.engine)
    yield str(send)
    console.service.execute("DELETE FROM carrier_report")


def test_the_overview_and_the_send_show_its_expected_end_and_its_limit(console: Console, under_way: str) -> None:
    browser = console.browser("viewer")
    page = browser.get("/").text
    row = page[page.index(f"/sends/{under_way}") :].partition("</tr>")[0]
    assert "the rate of this send" in row
    assert re.search(r'data-label="Finishes"><time datetime="[^"]+">', row)
    page = browser.get(f"/sends/{under_way}/progress").text
    assert "the rate of this send" in page
    assert re.search(r"<dt>Expected to finish</dt><dd><time datetime=", page)


def test_canceled_messages_do_not_count_as_failed(console: Console) -> None:
    browser, send = console.browser(), scheduled(console)
    console.service.post(f"/sends/{send}/cancel")
    page = browser.get(f"/sends/{send}").text
    assert '<li class="failed">Failed <b>0</b>' in page and '<li class="canceled">Canceled <b>2</b>' in page
    with console.service.engine.begin() as connection:
        connection.exec_driver_sql(
            "INSERT INTO usage (account_id, began_at, sender_id, country, lane, status, messages, credits)"
            " VALUES (%s, date_trunc('hour', now()), 'ACME', 'KE', 1, 'canceled', 1234, 0)",
            (console.service.account_id,),
        )
    overview = browser.get("/").text
    assert "<dt>Canceled</dt><dd>1,234</dd>" in overview and "<dt>Failed</dt><dd>0</dd>" in overview
    assert "0 failed, 1,234 canceled" in overview
    assert re.search(r'data-label="Canceled" class="number">1,234<', browser.get("/usage/?by=country").text)


def test_the_reasons_of_a_whole_send_are_counted(console: Console) -> None:
    phones = [f"99902{number:07}" for number in range(1_100)]
    send = console.service.bulk([*phones, "254711000001"], "Hi").json["send_id"]
    page = console.browser().get(f"/sends/{send}/reasons", headers={"HX-Request": "true"})
    assert re.search(r'data-label="Messages" class="number">1,100<', page.text), page.text


def test_recipients_are_filtered_and_downloaded(console: Console) -> None:
    send = console.service.bulk(["254711000001", "254711000002"], "Hi").json["send_id"]
    console.service.deliver_receipts()
    browser = console.browser()
    assert "+254711000001" in browser.get(f"/sends/{send}/recipients?status=delivered").text
    assert "No messages found" in browser.get(f"/sends/{send}/recipients?status=failed").text
    csv = browser.get(f"/sends/{send}/recipients.csv")
    assert csv.mimetype == "text/csv" and "attachment" in csv.headers["Content-Disposition"]
    assert {"254711000001", "254711000002"} <= set(re.findall(r"\d{12}", csv.text))


def test_what_a_search_finds_is_exported(console: Console) -> None:
    service, browser = console.service, console.browser("viewer")
    group = service.new_group(["254711000031"])
    service.post("/sms/send-group", sender_id="ACME", group_id=group, message="Hi", category="marketing")
    service.send("4915112345678")
    service.sweep()
    found = browser.get(f"/messages/?group_id={group}&category=marketing&country=KE&carrier=simulator&error=")
    assert group in found.text and "No messages found" not in found.text and "4915112345678" not in found.text
    assert f'name="group_id" value="{group}"' in found.text
    page = browser.post("/messages/exports", group_id=group, category="marketing", country="KE", follow=True)
    assert "every 2s" in page.text
    path = page.request.path.partition("/live")[2]
    assert "too many within a week" in browser.post("/messages/exports", follow=True).text
    while export_page(service.engine):
        pass
    assert "every 2s" not in browser.get(path).text
    lines = browser.get(f"{path}/file").text.splitlines()
    assert len(lines) == 2 and ",254711000031," in lines[1]
    wrong = browser.post("/messages/exports", country="kenya", follow=True)
    assert wrong.status_code == 200 and "notice warn" in wrong.text
