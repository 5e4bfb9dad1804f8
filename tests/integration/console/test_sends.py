"""Sends and messages in the console: progress that adds up, control, reasons, recipients, search."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from html import unescape
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import text
from werkzeug.test import TestResponse

from console.message.progress import Progress
from tests.harness.console import Browser, Console
from tests.harness.times import ahead
from tests.integration.console.test_operator import REPORTED

STATUSES = (
    "scheduled",
    "queued",
    "sending",
    "sent",
    "delivered",
    "undelivered",
    "failed",
    "rejected",
    "expired",
    "canceled",
    "in_doubt",
)


def scheduled(console: Console, message: str = "Doors open at 9") -> str:
    """A send that waits for tomorrow."""
    later = (datetime.now(UTC) + timedelta(days=1)).isoformat()
    return str(console.service.bulk(["254711000001", "254711000002"], message, send_at=later).json["send_id"])


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


def test_the_counts_add_up(console: Console) -> None:
    counts = {status: 2**number for number, status in enumerate(STATUSES)}
    send = {"counts": counts, "status": "sending", "send_at": None, "eta": None, "completed_at": None, "kind": "bulk"}
    progress = Progress({**send, "created_at": "2026-01-01T00:00:00Z"})
    assert sum(count for _, count in progress.parts) == progress.total == sum(counts.values())
    assert progress.done + progress.waiting == progress.total


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


def test_the_question_before_a_cancel_can_be_told_from_its_answers(console: Console) -> None:
    send, browser = scheduled(console), console.browser("sender")
    page = browser.get(f"/sends/{send}").text
    question = page[page.index('id="cancel"') :].partition("</details>")[0]
    assert '<button class="button danger">Cancel the send</button>' in question
    assert f'href="{browser.path(f"/sends/{send}")}" data-close>Keep it</a>' in question


def test_a_waiting_send_is_changed(console: Console) -> None:
    browser, send = console.browser("sender"), scheduled(console)
    assert change(browser, send, message="Doors open at 10").status_code == 302
    changed = console.service.get(f"/sends/{send}").json
    assert changed["message"] == "Doors open at 10"
    wrong = change(browser, send, rate="quick")
    assert wrong.status_code == 400 and 'id="rate-error"' in wrong.text and 'value="quick"' in wrong.text


@pytest.mark.parametrize(("field", "typed"), [("send_at", "x"), ("expires_at", "x"), ("rate", "9" * 5000)])
def test_a_wrong_value_is_reported_at_its_field(console: Console, field: str, typed: str) -> None:
    browser, send = console.browser("sender"), scheduled(console)
    wrong = change(browser, send, **{field: typed})
    assert wrong.status_code == 400
    assert re.findall(r'id="(\w+)-error"', wrong.text) == [field]


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
    shown = re.search(r'name="shown" value="([^"]+)"', page.text)
    assert shown and "Doors open at 11" in page.text and 'value="5"' in page.text
    assert mine.post(f"/sends/{send}/change", **{**form, "shown": unescape(shown[1])}).status_code == 302
    now = console.service.get(f"/sends/{send}").json
    assert (now["message"], now["send_at"][:16], now["rate"]) == ("Doors open at 11", later, 5)


def test_the_times_of_a_form_stay_in_the_zone_that_it_showed(console: Console) -> None:
    browser, send = console.browser("sender"), scheduled(console)
    before, form = console.service.get(f"/sends/{send}").json["send_at"], change_form(browser, send)
    browser.open("/me/profile")
    browser.submit("/me/profile", name="Ann", locale="en", time_zone="America/New_York")
    assert browser.post(f"/sends/{send}/change", **{**form, "rate": "6"}).status_code == 302
    assert console.service.get(f"/sends/{send}").json["send_at"] == before
    later = typed_time(days=2)
    assert browser.post(f"/sends/{send}/change", **{**form, "send_at": later}).status_code == 302
    now = console.service.get(f"/sends/{send}").json["send_at"]
    assert now[:16] == later
    there = datetime.fromisoformat(now).astimezone(ZoneInfo("America/New_York"))
    assert change_form(browser, send)["send_at"] == f"{there:%Y-%m-%dT%H:%M}"


@pytest.mark.parametrize("shown", ["", "nonsense", "\u00e9\0.x", "other"])
def test_a_form_that_does_not_say_what_it_showed_replaces_nothing_unseen(console: Console, shown: str) -> None:
    browser, send = console.browser("sender"), scheduled(console)
    kept = change_form(browser, scheduled(console))["shown"] if shown == "other" else shown
    page = change(browser, send, shown=kept, message="Doors open at 10")
    assert page.status_code == 400 and "The page was out of date. This is now: Doors open at 9." in page.text
    assert console.service.get(f"/sends/{send}").json["message"] == "Doors open at 9"
    assert change(browser, send, shown=kept).status_code == 302, "nothing was edited"


def test_a_text_that_differs_by_recipient_cannot_be_changed(console: Console) -> None:
    later, service = (datetime.now(UTC) + timedelta(days=1)).isoformat(), console.service
    recipients = [{"phone": "254711000001", "variables": {"name": "Ann"}}]
    send = service.bulk(recipients, "Hi {{name}}", send_at=later).json["send_id"]
    browser = console.browser("sender")
    form = browser.get(f"/sends/{send}/change").text
    assert 'name="message"' not in form and "The text cannot, because it differs by recipient." in form
    assert change(browser, send, rate="7").status_code == 302
    assert (service.get(f"/sends/{send}").json["rate"], service.get(f"/sends/{send}").json["message"]) == (
        7,
        "Hi {{name}}",
    )
    wrong = change(browser, send, rate="quick")
    assert wrong.status_code == 400 and 'name="message"' not in wrong.text
    same = service.send("254711000001", "Hi {{{{name}}}}", send_at=later).json["send_id"]
    form = browser.get(f"/sends/{same}/change").text
    assert "The text and the time can change" in form and "Hi {{name}}</textarea>" in form and "maxlength" not in form


def test_changing_a_completed_send_is_refused_with_its_state(console: Console) -> None:
    send = console.service.bulk(["254711000001"], "Hi").json["send_id"]
    browser = console.browser("sender")
    late = change(browser, send, message="Hello")
    assert late.status_code == 400 and "The send can no longer change. Its state: Completed." in late.text


def test_the_page_of_a_send_refreshes_itself_until_the_send_ends(console: Console) -> None:
    browser, send = console.browser(), scheduled(console)
    part = browser.get(f"/sends/{send}/progress", headers={"HX-Request": "true"})
    assert "<html" not in part.text and 'hx-trigger="every 10s, reasons-loaded from:body"' in part.text
    console.service.post(f"/sends/{send}/cancel")
    assert "hx-get" not in browser.get(f"/sends/{send}/progress").text


def test_the_reasons_are_loaded_again_when_more_messages_have_failed(console: Console) -> None:
    send = console.service.bulk(["254711000001", "999020000001"], "Hi").json["send_id"]
    browser = console.browser()
    assert "load, reasons-changed from:body" in browser.get(f"/sends/{send}").text
    failed = browser.get(f"/sends/{send}/progress?unsuccessful=0")
    assert failed.headers["HX-Trigger"] == "reasons-changed"
    assert "HX-Trigger" not in browser.get(f"/sends/{send}/progress?unsuccessful=1").headers


@pytest.fixture
def under_way(console: Console) -> Iterator[str]:
    """A send to two that has its own rate, and a carrier that takes it."""
    later = (datetime.now(UTC) + timedelta(days=1)).isoformat()
    phones = ["254711000001", "254711000002"]
    send = console.service.bulk(phones, "Doors open at 9", send_at=later, rate=1).json["send_id"]
    with console.service.engine.begin() as connection:
        connection.execute(
            text(
                "UPDATE send SET state = 'sending', send_at = NULL, paced_until = now() + interval '1 hour'"
                " WHERE id = :send"
            ),
            {"send": send},
        )
        connection.execute(text(REPORTED), {"carrier": "main"})
    yield str(send)
    with console.service.engine.begin() as connection:
        connection.exec_driver_sql("DELETE FROM carrier_report")


def test_a_running_send_is_shown_however_many_are_newer(console: Console, under_way: str) -> None:
    for number in range(25):
        console.service.send(f"2547110001{number:02}", "One of many")
    page = console.browser("viewer").get("/").text
    now = page[page.index("Sending now") :].partition("</section>")[0]
    assert f"/sends/{under_way}" in now


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


def test_reasons_are_counted(console: Console) -> None:
    send = console.service.bulk(["254711000001", "999020000001", "999020000002"], "Hi").json["send_id"]
    page = console.browser().get(f"/sends/{send}/reasons", headers={"HX-Request": "true"})
    assert re.search(r'data-label="Messages" class="number">2<', page.text), page.text


def test_the_reasons_of_a_whole_send_are_counted(console: Console) -> None:
    phones = [f"99902{number:07}" for number in range(1_100)]
    send = console.service.bulk([*phones, "254711000001"], "Hi").json["send_id"]
    page = console.browser().get(f"/sends/{send}/reasons", headers={"HX-Request": "true"})
    assert re.search(r'data-label="Messages" class="number">1,100<', page.text), page.text


def test_messages_that_expired_without_an_attempt_are_counted(console: Console) -> None:
    later = (datetime.now(UTC) + timedelta(days=1)).isoformat()
    send = console.service.bulk(["254711000001", "254711000002"], "Hi", send_at=later).json["send_id"]
    with console.service.engine.begin() as connection:
        connection.execute(text("UPDATE send SET expired = 2 WHERE id = :send"), {"send": send})
    assert console.service.get(f"/sends/{send}/errors").json["data"] == [
        {"status": "expired", "code": "expired", "count": 2}
    ]


def test_reasons_are_shown_in_the_readers_language(console: Console) -> None:
    sent = console.service.send("999020000001").json
    browser = console.browser()
    browser.open("/me/profile")
    browser.submit("/me/profile", name="Ann", locale="de", time_zone="UTC")
    page = browser.get(f"/messages/{sent['message_id']}").text
    assert "Ungültiger Empfänger" in page and "Correct the number" not in page


def test_the_counts_are_loaded_again_with_the_reasons(console: Console) -> None:
    """They are read after each other: without that, a page says 1 failed beside the reasons of 2."""
    browser, send = console.browser(), scheduled(console)
    reasons = browser.get(f"/sends/{send}/reasons", headers={"HX-Request": "true"})
    assert reasons.headers["HX-Trigger"] == "reasons-loaded"
    page = browser.get(f"/sends/{send}").text
    assert "reasons-loaded from:body" in page
    assert "<dt>Messages per second</dt>" in page and "on average since it began" in page


def test_recipients_are_filtered_and_downloaded(console: Console) -> None:
    send = console.service.bulk(["254711000001", "254711000002"], "Hi").json["send_id"]
    console.service.deliver_receipts()
    browser = console.browser()
    assert "+254711000001" in browser.get(f"/sends/{send}/recipients?status=delivered").text
    assert "No messages found" in browser.get(f"/sends/{send}/recipients?status=failed").text
    csv = browser.get(f"/sends/{send}/recipients.csv")
    assert csv.mimetype == "text/csv" and "attachment" in csv.headers["Content-Disposition"]
    assert {"254711000001", "254711000002"} <= set(re.findall(r"\d{12}", csv.text))


def test_messages_are_found_by_phone_reference_and_status(console: Console) -> None:
    console.service.send("254711000001", "Hi", reference="order 7")
    console.service.send("254711000002", "Hi")
    browser = console.browser()
    for query, found in (("phone=%2B254 711 000 001", True), ("reference=order 7", True), ("status=failed", False)):
        page = browser.get(f"/messages/?{query}")
        assert ("+254711000001" in page.text) == found
        assert "+254711000002" not in page.text


@pytest.mark.parametrize("query", ["since=yesterday", "phone=abc", "status=lost", "until=0"])
def test_a_search_with_a_bad_value_is_reported(console: Console, query: str) -> None:
    page = console.browser().get(f"/messages/?{query}")
    name, _, typed = query.partition("=")
    assert page.status_code == 400 and f'id="{name}-error"' in page.text
    assert name == "status" or f'value="{typed}"' in page.text


def test_a_wrong_filter_is_named(console: Console) -> None:
    send, browser = console.service.bulk(["254711000001"], "Hi").json["send_id"], console.browser()
    hook = console.service.post("/webhooks", url="https://example.com/hook").json["webhook_id"]
    for path in ("/sends/?reference=order+7&", f"/sends/{send}/recipients?", f"/webhooks/{hook}?"):
        page = browser.get(f"{path}status=lost")
        assert page.status_code == 400 and 'id="status-error"' in page.text, path
        assert "There is a problem" in page.text and ("reference" not in path or 'value="order 7"' in page.text)
    assert browser.get(f"/sends/{send}/recipients?cursor=nonsense").status_code == 400


def test_the_page_of_a_message_shows_its_timeline(console: Console) -> None:
    sent = console.service.send("254711000001", "Your code is 1").json
    console.service.deliver_receipts()
    page = console.browser().get(f"/messages/{sent['message_id']}")
    assert "Your code is 1" in page.text and "simulator" in page.text
    assert page.text.index("Accepted") < page.text.index("What happened") + 2000 and "Delivered" in page.text


def test_what_a_message_costs_is_reserved_until_the_carrier_has_it(console: Console) -> None:
    waiting = console.service.send("254711000001", "Hi", send_at=ahead()).json["message_id"]
    sent = console.service.send("254711000002", "Hi").json["message_id"]
    browser = console.browser()
    assert "<dt>Reserved</dt><dd>1</dd>" in browser.get(f"/messages/{waiting}").text
    assert "<dt>Charged</dt><dd>1</dd>" in browser.get(f"/messages/{sent}").text


def test_a_long_list_has_a_next_page(console: Console) -> None:
    console.service.bulk([str(254711000000 + number) for number in range(60)], "Hi")
    browser = console.browser()
    first = browser.get("/messages/")
    after = re.search(r'href="([^"]*cursor=[^"]+)"', first.text)
    assert after is not None
    second = browser.open(after.group(1).replace("&amp;", "&"))
    shown = [set(re.findall(r">(\+2547110000\d\d)<", page.text)) for page in (first, second)]
    assert [len(each) for each in shown] == [50, 10] and not shown[0] & shown[1]
