"""Conversations: both sides on one timeline, on pages, and the reply."""

import re
from html import unescape

import pytest

from shared.db.connection import transaction
from shared.inbound import Inbound, store
from tests.harness.console import Browser, Console
from tests.harness.service import Service

NUMBER = "254204880001"


def add_number(service: Service, number: str) -> None:
    """Give the account a number that phones can write to."""
    with service.engine.begin() as connection:
        connection.exec_driver_sql(
            "INSERT INTO sender_id (account_id, sender_id, state) VALUES (%s, %s, 'approved')",
            (service.account_id, number),
        )


def test_a_conversation_is_answered(console: Console) -> None:
    service = console.service
    add_number(service, NUMBER)
    with transaction(service.engine) as connection:
        store(connection, "simulator", [Inbound("+254711000009", f"+{NUMBER}", "Is it open?")])
    browser = console.browser("sender")
    assert "Is it open?" in browser.get("/conversations/").text
    german = console.browser("viewer")
    german.submit("/me/profile", name="Ann", locale="de", time_zone="UTC")
    assert "Nachrichten an diese Nummer" in german.get("/conversations/254711000009").text
    page = browser.get("/conversations/254711000009")
    assert re.search(rf'value="{NUMBER}" selected', page.text), "the number that was written to answers"
    fields = {"sender_id": NUMBER, "message": "Until six.", "key": "a-reply"}
    for _ in range(2):
        browser.post("/conversations/254711000009", **fields)
    assert browser.get("/conversations/254711000009").text.count("Until six.") == 1
    empty = browser.post("/conversations/254711000009", sender_id=NUMBER, message="")
    assert empty.status_code == 400 and "Write a message." in empty.text


def test_a_reply_shows_its_segments_and_its_price(console: Console) -> None:
    browser, path = console.browser("sender"), "/conversations/254711000059"
    page = browser.get(path).text
    assert 'id="quote"' in page and f'hx-post="{browser.path("/compose/quote")}"' in page
    fields = {"sender_id": "ACME", "message": "x" * 161}
    page = browser.post(path, **fields, check="yes").text
    assert "<dt>Segments</dt><dd>2</dd>" in page and "<dt>Price</dt><dd>2</dd>" in page and "x" * 161 in page
    page = browser.post(path, **fields, replace="yes", plain_text="Half past six - come in").text
    assert "Half past six - come in</textarea>" in page
    page = browser.post(path, sender_id="ACME", message="Hi {{name}}").text
    assert "The placeholder {{name}} has no value." in page and 'name="value_name"' in page
    assert console.service.get("/sends").json["data"] == [], "nothing was sent by any of these"
    browser.post(path, sender_id="ACME", message="Hi {{name}}", value_name="Ann")
    assert [each["message"] for each in console.service.get("/sends").json["data"]] == ["Hi Ann"]


def test_a_reply_that_is_too_long_is_kept_and_refused(console: Console) -> None:
    browser, path = console.browser("sender"), "/conversations/254711000059"
    assert "maxlength" not in browser.get(path).text
    page = browser.post(path, sender_id="ACME", message="x" * 1601)
    assert page.status_code == 400 and 'id="message-error"' in page.text
    assert "The message is longer than 1,600 characters." in page.text and "x" * 1601 in page.text
    assert console.service.get("/sends").json["data"] == []


def test_who_may_not_send_reads_a_conversation(console: Console) -> None:
    page = console.browser("viewer").get("/conversations/254711000059?sender_id=ACME")
    assert page.status_code == 200 and "<textarea" not in page.text


def test_a_conversation_is_one_timeline_on_pages(console: Console) -> None:
    service = console.service
    add_number(service, NUMBER + "7")
    for number in range(20):
        with transaction(service.engine) as connection:
            texts = [f"in {number} first", f"in {number} second"]
            store(connection, "simulator", [Inbound("+254711000019", f"+{NUMBER}7", each) for each in texts])
        service.send("254711000019", f"out {number} third")
    browser = console.browser("viewer")
    shown: list[str] = []
    address = browser.path("/conversations/254711000019")
    for _ in range(10):
        page = browser.open(address).text
        shown = re.findall(r"(?:in|out) \d+ \w+", page[page.index('class="talk"') :]) + shown
        older = re.search(r'href="([^"]+)">Older messages', page)
        if not older:
            break
        address = unescape(older.group(1))
    expected = [f"{side} {number} {order}" for number in range(20) for side, order in ORDER]
    assert sorted(shown) == sorted(expected), "each message is shown once"
    assert [text for text in shown if text.startswith("out")] == [text for text in expected if text.startswith("out")]
    assert browser.get("/conversations/?").text.count("+254711000019") == 1, "one row for each phone number"


ORDER = (("in", "first"), ("in", "second"), ("out", "third"))


def pages_of_a_conversation(browser: Browser, phone: str) -> list[list[str]]:
    """The texts of each page, from the newest page to the oldest."""
    pages, address = [], browser.path(f"/conversations/{phone}")
    for _ in range(20):
        page = browser.open(address).text
        pages.append(re.findall(r'<p class="bubble(?: out)?">(.*?)</p>', page))
        older = re.search(r'href="([^"]+)">Older messages', page)
        if not older:
            return pages
        address = unescape(older.group(1))
    raise AssertionError("a conversation has no end")


def test_a_conversation_goes_on_past_many_sends_to_others(console: Console, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("api.resources.messages.search.MAX_BATCHES", 2)
    service, phone = console.service, "254711000029"
    add_number(service, NUMBER + "8")
    expected: list[str] = []

    def receive(text: str) -> None:
        expected.append(text)
        with transaction(service.engine) as connection:
            store(connection, "simulator", [Inbound(f"+{phone}", f"+{NUMBER}8", text)])

    def send(text: str) -> None:
        expected.append(text)
        service.send(phone, text)

    send("Booked.")
    receive("Thanks")
    for number in range(25):
        service.send(f"2547110010{number:02}", "To others")
    receive("Still open?")
    send("Until six.")
    for number in range(15):
        service.send(f"2547110010{number:02}", "To others")
    receive("Good.")
    pages = pages_of_a_conversation(console.browser("viewer"), phone)
    assert pages[0] == ["Thanks", "Still open?", "Good."], "sent ones are searched for further back"
    assert {text for page in pages for text in page} == set(expected)
    assert all(page == [text for text in expected if text in page] for page in pages), "each page is in order"
    with_sent = [page for page in pages if any(text in page for text in ("Booked.", "Until six."))]
    assert [text for page in reversed(with_sent) for text in page] == expected, (
        "both sides of the same time are together"
    )


def test_both_sides_of_a_page_begin_at_the_same_time(console: Console, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("console.views.conversations.TURNS", 4)
    service, phone = console.service, "254711000039"
    add_number(service, NUMBER + "9")
    expected = [f"{side} {order} {number}" for order, side in enumerate(("in", "out", "in")) for number in range(9)]
    for text in expected:
        if text.startswith("out"):
            service.send(phone, text)
            continue
        with transaction(service.engine) as connection:
            store(connection, "simulator", [Inbound(f"+{phone}", f"+{NUMBER}9", text)])
    pages = pages_of_a_conversation(console.browser("viewer"), phone)
    assert [text for page in reversed(pages) for text in page] == expected


@pytest.mark.parametrize("typed", ["abc", "0711 000 009", "12"])
def test_a_phone_number_that_is_none_is_named_and_kept(console: Console, typed: str) -> None:
    browser = console.browser("viewer")
    page = browser.get("/conversations/open", query_string={"phone": typed})
    assert page.status_code == 400 and 'id="phone-error"' in page.text and f'value="{typed}"' in page.text
    assert "with its country code" in page.text and "Something went wrong" not in page.text
    page = browser.get(f"/conversations/{typed}")
    assert page.status_code == 400 and 'id="phone-error"' in page.text


def test_a_phone_number_as_people_write_it_opens_its_conversation(console: Console) -> None:
    browser = console.browser("viewer")
    opened = browser.get("/conversations/open", query_string={"phone": "+254 711 000-009"})
    assert opened.headers["Location"] == browser.path("/conversations/254711000009")
