"""Writing and sending a message: each kind of recipients, what is wrong, and that it is sent once."""

import io
import re
from datetime import UTC, datetime, timedelta
from html import unescape
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from console.message import drafts, recipients
from shared.accounts.category_rules import set_cap, set_quiet_hours
from tests.harness.console import Browser, Console

ONE = {"kind": "one", "phone": "+254 711 000 001", "sender_id": "ACME", "message": "Hello", "category": "transactional"}

PERCENTAGE = "Enter a percentage between 0 and 100, such as 20."


def hidden(page: Any) -> dict[str, str]:
    """The values that a confirmation sends on."""
    form = page.text[page.text.index("/compose/send") :].partition("</form>")[0]
    found = dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', form))
    area = re.search(r'<textarea name="file_text" hidden>\n(.*?)</textarea>', form, re.DOTALL)
    values = {name: unescape(value) for name, value in found.items()}
    return values | ({"file_text": unescape(area.group(1))} if area else {})


def confirmed(browser: Browser, **fields: Any) -> Any:
    browser.get("/compose/")
    page = browser.post("/compose/confirm", **fields)
    assert page.status_code == 200, page.text
    return page


def cells(page: str) -> list[str]:
    """The texts of a page's tables."""
    return [unescape(each) for each in re.findall(r"<td[^>]*>([^<]*)</td>", page)]


def sent(console: Console) -> list[Any]:
    return list(console.service.get("/sends").json["data"])


def phones(console: Console) -> list[str]:
    """The phones of all messages of the account."""
    return sorted(each["phone"] for each in console.service.get("/messages").json["data"])


def test_a_double_click_and_a_reload_send_once(console: Console) -> None:
    browser = console.browser("sender")
    values = hidden(confirmed(browser, **{**ONE, "kind": "list", "list": "254711000001\n254711000002"}))
    places = {browser.post("/compose/send", **values).headers["Location"] for _ in range(3)}
    assert len(places) == 1 and len(sent(console)) == 1
    assert phones(console) == ["254711000001", "254711000002"]


def test_a_file_fills_placeholders_from_its_columns(console: Console) -> None:
    browser = console.browser("sender")
    browser.get("/compose/")
    file = (io.BytesIO("Kunde;Handy;Ort\nBen;+254711000002;Köln\nÄnne;0711;Bonn\n".encode()), "kunden.csv")
    page = browser.post("/compose/", **{**ONE, "kind": "file", "message": "Hi {{name}} in {{ort}}", "file": file})
    assert "kunden.csv" in page.text and "2 rows" in page.text
    assert re.search(r'<option value="1" selected>Handy', page.text), "the column of phones is recognised"
    assert re.search(r'<option value="2" selected>Ort', page.text), "a column of the placeholder's name is taken"
    text = re.search(r'<textarea name="file_text" hidden>\n(.*?)</textarea>', page.text, re.DOTALL)
    assert text is not None
    fields = {"file_text": unescape(text.group(1)), "file_name": "kunden.csv", "phone_column": "1"}
    fields |= {"column_name": "0", "column_ort": "2", "kind": "file", "message": "Hi {{name}} in {{ort}}"}
    page = confirmed(browser, **{**ONE, **fields})
    assert "Hi Ben in Köln" in page.text and "Invalid" in page.text
    browser.post("/compose/send", **hidden(page))
    texts = [
        console.service.get(f"/messages/{each['message_id']}").json["text"]
        for each in console.service.get("/messages").json["data"]
    ]
    assert texts == ["Hi Ben in Köln"], "0711 is no phone"


def test_the_column_of_phones_is_chosen_and_confirmed(console: Console) -> None:
    browser = console.browser("sender")
    text = "Order number,Ring,<b>Kin</b>\n1000234567,254711000001,254711000002\n"
    browser.get("/compose/")
    fields = {**ONE, "kind": "file", "file_text": text, "file_name": "a.csv"}
    for page in (browser.post("/compose/confirm", **fields), browser.post("/compose/send", **fields)):
        assert page.status_code == 400 and "Choose the column with the phone numbers." in page.text
        assert '<option value="">Choose a column</option>' in page.text and "1 row<" in page.text
    assert sent(console) == []
    quote = browser.post("/compose/quote", **{**fields, "preview_for": "1"})
    assert quote.status_code == 200 and "Choose the column with the phone numbers." in quote.text
    page = confirmed(browser, **{**fields, "phone_column": "1"})
    shown = "<dt>Phone number column</dt><dd>{}, such as +{}<br>"
    assert shown.format("Ring", "254711000001") in page.text and "To use another column, choose Change." in page.text
    written = browser.post("/compose/", **hidden(page))
    assert '<option value="1" selected>Ring' in written.text
    page = confirmed(browser, **{**hidden(page), "phone_column": "2"})
    assert shown.format("&lt;b&gt;Kin&lt;/b&gt;", "254711000002") in page.text
    browser.post("/compose/send", **hidden(page))
    assert phones(console) == ["254711000002"]


def test_a_price_of_another_message_is_not_taken(console: Console) -> None:
    browser = console.browser("sender")
    response = browser.post("/compose/send", **hidden(confirmed(browser, **ONE)) | {"message": "Another"})
    assert response.status_code == 400 and "The price was for another message or other recipients." in response.text
    assert sent(console) == []


@pytest.mark.parametrize("kind", ["list", "file"])
def test_too_many_recipients_are_refused_before_all_are_read(
    console: Console, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setattr(recipients, "MOST_RECIPIENTS", 3)
    monkeypatch.setattr(drafts, "MOST_RECIPIENTS", 3)
    browser = console.browser("sender")
    browser.get("/compose/")
    rows = [str(254711000000 + number) for number in range(1000)]

    def given(count: int) -> dict[str, Any]:
        text = "\n".join(rows[:count])
        return {**ONE, "kind": kind} | (
            {"list": text} if kind == "list" else {"file": (io.BytesIO(text.encode()), "a.csv")}
        )

    assert "Send to 3 recipients" in confirmed(browser, **given(3)).text
    too_many = "Too many recipients for one send. Use a group, or split the list."
    for page, status in (("/compose/", 200), ("/compose/confirm", 400), ("/compose/send", 400)):
        response = browser.post(page, **given(1000))
        assert response.status_code == status and too_many in response.text
        assert f'id="{kind}-error"' in response.text and "at least one recipient" not in response.text
        assert (rows[-1] in response.text) == (kind == "list"), "what was typed is kept, a file is not"
    assert sent(console) == []


def test_a_group_gets_the_text_of_each_contact(console: Console) -> None:
    service, browser = console.service, console.browser("sender")
    group = service.post("/groups", name="Guests").json["group_id"]
    service.post(
        f"/groups/{group}/contacts", contacts=[{"phone": "254711000001", "fields": {"name": "Ada"}}, "254711000002"]
    )
    fields = {**ONE, "kind": "group", "group_id": group, "message": "Hi {{name|you}}"}
    live = browser.post("/compose/quote", **fields, preview="0")
    assert "Hi Ada" in live.text and "+254711000002" in live.text
    assert "Hi you" in browser.post("/compose/quote", **fields, preview="1").text
    page = confirmed(browser, **fields)
    assert "Guests" in page.text and "Send to 2 recipients" in page.text
    browser.post("/compose/send", **hidden(page))
    assert phones(console) == ["254711000001", "254711000002"]


def test_the_character_that_makes_it_unicode_is_named_with_its_replacement(console: Console) -> None:
    browser = console.browser()
    browser.get("/compose/")
    live = browser.post("/compose/quote", **{**ONE, "message": "Today \u2013 not tomorrow"})
    assert "U+2013" in live.text and "UCS-2" in live.text and "can be replaced by -" in live.text
    plain = re.search(r'name="plain_text" value="([^"]*)"', live.text)
    assert plain is not None
    page = browser.post("/compose/", **ONE, replace="yes", plain_text=unescape(plain.group(1)))
    assert "Today - not tomorrow</textarea>" in page.text and "GSM-7" in page.text


@pytest.mark.parametrize(
    ("fields", "name", "text"),
    [
        ({"phone": "hello"}, "phone", "not a phone number"),
        ({"phone": ""}, "phone", "phone"),
        ({"message": " "}, "message", "Write a message."),
        ({"message": "x" * 1601}, "message", "longer than 1,600"),
        ({"message": "Hi {{name}}"}, "message", "The placeholder {{name}} has no value."),
        ({"sender_id": ""}, "sender_id", "Choose a sender ID."),
        ({"kind": "list", "list": ""}, "list", "at least one recipient"),
        ({"kind": "file", "file_text": ""}, "file", "at least one recipient"),
        ({"when": "later", "send_at": ""}, "send_at", "Enter a date and a time."),
        ({"when": "later", "send_at": "1999-01-01T10:00"}, "send_at", "Enter a time in the future."),
        ({"rate": "fast"}, "rate", "Enter a whole number, such as 10."),
        ({"reference": "r" * 256}, "reference", ""),
        ({"kind": "list", "list": "254711000001", "stop_share": "many"}, "stop_share", PERCENTAGE),
        ({"kind": "list", "list": "254711000001", "stop_share": "120"}, "stop_share", PERCENTAGE),
        ({"kind": "list", "list": "254711000001", "stop_share": "0"}, "stop_share", PERCENTAGE),
        ({"kind": "list", "list": "254711000001", "stop_over": "50"}, "stop_share", PERCENTAGE),
        ({"kind": "list", "list": "254711000001", "stop_share": "20", "stop_over": "few"}, "stop_over", "whole number"),
        ({"canary": "5"}, "canary", "only with several recipients"),
        ({"stop_share": "20"}, "stop_share", "only with several recipients"),
        ({"quiet_from": "21:00"}, "quiet_until", "Enter when quiet hours end."),
        ({"quiet_until": "07:00"}, "quiet_from", "Enter when quiet hours start."),
        ({"quiet_from": "21:00", "quiet_until": "21:00"}, "quiet_until", "at the same time"),
        ({"message": "Hi {{name}}, bye", "value_name": " "}, "message", "The placeholder {{name}} has no value."),
        ({"category": "gossip"}, "category", ""),
    ],
)
def test_errors_are_shown_at_their_fields_and_the_input_is_kept(
    console: Console, fields: dict[str, str], name: str, text: str
) -> None:
    browser = console.browser()
    browser.get("/compose/")
    page = browser.post("/compose/confirm", **{**ONE, "reference": "kept-reference", **fields})
    assert page.status_code == 400
    assert f'id="{name}-error"' in page.text and text in page.text
    assert fields.get("reference", "kept-reference") in page.text
    assert fields.get("message", "Hello").strip() in page.text
    assert sent(console) == []


def test_too_few_credits_are_reported_before_sending(console: Console) -> None:
    other = console.service.new_account("poor", credits=1)
    browser = console.browser("owner", other)
    page = confirmed(browser, **{**ONE, "kind": "list", "list": "254711000001\n254711000002"})
    assert "does not cover" in page.text and "Send to 2" not in page.text


def test_times_are_in_the_persons_time_zone(console: Console) -> None:
    person_browser = console.browser()
    console.service.execute("UPDATE person SET time_zone = 'Africa/Nairobi'")
    due = datetime.now(UTC).replace(second=0, microsecond=0) + timedelta(hours=2)
    typed = due.astimezone(ZoneInfo("Africa/Nairobi")).strftime("%Y-%m-%dT%H:%M")
    page = confirmed(person_browser, **{**ONE, "when": "later", "send_at": typed})
    person_browser.post("/compose/send", **hidden(page))
    (send,) = sent(console)
    assert send["status"] == "scheduled" and datetime.fromisoformat(send["send_at"]) == due


def test_the_confirmation_shows_the_rules(console: Console) -> None:
    console.service.transact(set_quiet_hours, console.service.account_id, "marketing", (21 * 60, 8 * 60))
    console.service.transact(set_cap, console.service.account_id, "marketing", (3, 168))
    fields = {**ONE, "kind": "list", "list": "254711000001\n254711000002", "category": "marketing"}
    fields |= {"stop_share": "20", "stop_over": "50", "canary": "50%"}
    page = confirmed(console.browser("sender"), **fields).text
    assert "Messages wait during the quiet hours." in page
    assert re.search("21:00 . 08:00 in the recipient's time", page) and "the account's rule for this category" in page
    assert "20% of at least 50 messages with a result" in page
    assert "3 in 168 hours" in page and "<dt>Send first</dt><dd>1</dd>" in page


def test_any_recipient_can_be_previewed(console: Console) -> None:
    browser = console.browser("sender")
    browser.get("/compose/")
    rows = "phone,name\n" + "".join(f"{254711000000 + number},Person {number}.\n" for number in range(1, 101))
    fields = {**ONE, "kind": "file", "file_text": rows, "file_name": "a.csv", "message": "Hi {{name}}", "check": "yes"}
    for searched, shown in (("77", "Hi Person 77."), ("+254 711 000 088", "Hi Person 88.")):
        assert f'<p class="bubble">{shown}</p>' in browser.post("/compose/", **fields, preview_for=searched).text
    for searched in ("101", "0", "254711000999", "nobody"):
        page = browser.post("/compose/", **fields, preview_for=searched).text
        assert "There is no such recipient." in page and "Hi Person 1." in page
    group = console.service.new_group([str(254711000000 + number) for number in range(1, 101)])
    fields = {**ONE, "kind": "group", "group_id": group, "message": "Hi {{name|you}}", "check": "yes"}
    page = browser.post("/compose/", **fields, preview_for="254711000099").text
    assert '<p class="bubble">Hi you</p>' in page and "There is no such recipient." not in page
    for searched in ("254711000999", "77"):
        page = browser.post("/compose/", **fields, preview_for=searched).text
        assert "There is no such recipient." in page and "a group has no rows" in page
