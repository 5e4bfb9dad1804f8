"""Conversations: both sides on one timeline, on pages, and the reply."""

import re
from html import unescape

from shared.db.connection import transaction
from shared.inbound import Inbound, store
from tests.harness.console import Console

NUMBER = "254204880001"


def test_a_reply_goes_to_the_phone_although_it_would_be_a_national_number_too(console: Console) -> None:
    """33612345678 is a French mobile phone, and with 39 before it an Italian one."""
    service = console.service
    service.execute("UPDATE account SET country = 'IT' WHERE id = :id", id=service.account_id)
    browser = console.browser("sender")
    browser.post("/conversations/33612345678", sender_id="ACME", message="Until six.", key="abroad")
    assert service.get("/messages").json["data"][0]["phone"] == "33612345678"
    group = service.new_group([])
    browser.post(f"/groups/{group}/contacts", phones="+33 6 12 34 56 78")
    path = f"/groups/{group}/contact?phone=%2B33612345678"
    browser.post(path, field_name="name", field_value="Ann")
    [contact] = service.get(f"/groups/{group}/contacts").json["data"]
    assert (contact["phone"], contact["fields"]) == ("33612345678", {"name": "Ann"})
    browser.post("/opt-outs/", phones="+33 6 12 34 56 78")
    assert [each["phone"] for each in service.get("/suppressions").json["data"]] == ["33612345678"]


def test_a_conversation_is_answered(console: Console) -> None:
    service = console.service
    service.approve(service.account_id, NUMBER)
    service.transact(store, "simulator", [Inbound("+254711000009", f"+{NUMBER}", "Is it open?")])
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


def test_a_conversation_is_one_timeline_on_pages(console: Console) -> None:
    service = console.service
    service.approve(service.account_id, NUMBER + "7")
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


def test_a_phone_number_as_people_write_it_opens_its_conversation(console: Console) -> None:
    browser = console.browser("viewer")
    opened = browser.get("/conversations/open", query_string={"phone": "+254 711 000-009"})
    assert opened.headers["Location"] == browser.path("/conversations/254711000009")
