"""Writing and sending a message: each kind of recipients, what is wrong, and that it is sent once."""

import io
import re
from datetime import UTC, datetime, timedelta
from html import unescape
from typing import Any
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import text
from werkzeug.datastructures import FileStorage
from werkzeug.test import encode_multipart

from console.message import drafts, recipients
from console.views.compose import LARGEST_FILE
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


def post_as_browsers_do(browser: Browser, page: str, fields: dict[str, Any], *, multipart: bool) -> Any:
    """Post a form in its encoding. The test client would leave the temporary file of a large one open."""
    if multipart:
        boundary, body = encode_multipart(fields)
        kind = f"multipart/form-data; boundary={boundary}"
    else:
        body, kind = urlencode(fields).encode(), "application/x-www-form-urlencoded"
    return browser.client.post(browser.path(page), data=body, content_type=kind)


def cells(page: str) -> list[str]:
    """The texts of a page's tables."""
    return [unescape(each) for each in re.findall(r"<td[^>]*>([^<]*)</td>", page)]


def sent(console: Console) -> list[Any]:
    return list(console.service.get("/sends").json["data"])


def phones(console: Console) -> list[str]:
    """The phones of all messages of the account."""
    return sorted(each["phone"] for each in console.service.get("/messages").json["data"])


def test_it_works(console: Console) -> None:
    browser = console.browser("sender")
    page = confirmed(browser, **ONE)
    assert "Send to 1 recipient" in page.text and "99,999" in page.text
    response = browser.post("/compose/send", **hidden(page))
    (send,) = sent(console)
    assert response.headers["Location"] == browser.path(f"/sends/{send['send_id']}")
    assert (send["kind"], send["message"], send["cost"]) == ("single", "Hello", 1)
    assert phones(console) == ["254711000001"]


def test_nobody_overlooks_what_a_campaign_is(console: Console) -> None:
    browser = console.browser("sender")
    page = browser.get("/compose/").text
    category, more = page.index('<select id="category"'), page.index("More options")
    assert category < more and "Choose Marketing for a campaign" in page
    assert re.search(r'<option value="transactional" selected>', page), "as in the API"
    several, advice = {**ONE, "kind": "list", "list": "254711000001\n254711000002"}, "If this is a campaign"
    assert advice in confirmed(browser, **several).text
    assert advice not in confirmed(browser, **several | {"category": "marketing"}).text
    assert advice not in confirmed(browser, **ONE).text


def test_the_segments_of_one_message_and_of_all_have_names_of_their_own(console: Console) -> None:
    browser = console.browser("sender")
    several = {**ONE, "kind": "list", "list": "254711000001\n254711000002", "message": "x" * 161}
    written = browser.post("/compose/", **several, check="yes").text
    assert '<dt>Segments</dt><dd>2</dd><dd class="note">in this message, GSM-7</dd>' in written
    page = confirmed(browser, **several)
    assert "<dt>Segments in total</dt><dd>4 (GSM-7)" in page.text.replace("\n", "")
    send = browser.post("/compose/send", **hidden(page)).headers["Location"]
    assert "<dt>Segments in total</dt><dd>4 (GSM-7)" in browser.open(send).text.replace("\n", "")


def test_a_double_click_and_a_reload_send_once(console: Console) -> None:
    browser = console.browser("sender")
    values = hidden(confirmed(browser, **{**ONE, "kind": "list", "list": "254711000001\n254711000002"}))
    places = {browser.post("/compose/send", **values).headers["Location"] for _ in range(3)}
    assert len(places) == 1 and len(sent(console)) == 1
    assert phones(console) == ["254711000001", "254711000002"]


def test_nothing_is_sent_before_it_is_confirmed(console: Console) -> None:
    browser = console.browser("sender")
    confirmed(browser, **ONE)
    browser.post("/compose/", **ONE, check="yes")
    browser.post("/compose/quote", **ONE)
    assert sent(console) == []


def test_a_list_names_the_phones_that_are_left_out(console: Console) -> None:
    page = confirmed(
        console.browser(), **{**ONE, "kind": "list", "list": "254711000001, 254711000001; 0711\n+254711000002"}
    )
    assert "Send to 2 recipients" in page.text
    assert "Duplicates" in page.text and "Not a phone number" in page.text and "Listed twice" in page.text


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


@pytest.mark.parametrize("action", ["/compose/send", "/compose/"])
def test_a_large_file_in_another_alphabet_is_sent_on_from_the_confirmation(console: Console, action: str) -> None:
    browser = console.browser("sender")
    browser.get("/compose/")
    rows = [f"254711{number:06},{'примечание ' * 300}" for number in range(2_000)]
    file = ("phone,note\n" + "\n".join(rows)).encode()
    assert 12_000_000 < len(file) < LARGEST_FILE
    fields = {**browser.tokens, **ONE, "kind": "file", "file": FileStorage(io.BytesIO(file), "all.csv")}
    page = post_as_browsers_do(browser, "/compose/confirm", fields, multipart=True)
    assert "Send to 2,000 recipients" in page.text
    (form,) = re.findall(rf'<form method="post" action="{browser.path(action)}"([^>]*)>', page.text)
    values = {name: re.sub("\r\n|\r|\n", "\r\n", value) for name, value in hidden(page).items()}
    assert len(values["file_text"].encode()) > 12_000_000
    answer = post_as_browsers_do(browser, action, values, multipart='enctype="multipart/form-data"' in form)
    assert answer.status_code == (302 if action == "/compose/send" else 200)


def test_a_file_that_the_next_form_could_not_carry_is_refused_at_once(console: Console) -> None:
    browser = console.browser("sender")
    browser.get("/compose/")
    file = ("phone,note\n" + f"254711000001,{'例' * 250}\n" * 30_000).encode("utf-16")
    assert len(file) < LARGEST_FILE < len(file.decode("utf-16").encode())
    fields = {**browser.tokens, **ONE, "kind": "file", "file": FileStorage(io.BytesIO(file), "all.csv")}
    page = post_as_browsers_do(browser, "/compose/confirm", fields, multipart=True)
    assert page.status_code == 400 and "The file is larger than 20 MB." in page.text


def test_a_large_file_is_replaced_by_a_corrected_one(console: Console) -> None:
    browser = console.browser("sender")
    rows = [f"254711{number:06},{'x' * 9_700}" for number in range(2_000)]
    wrong, right = ("\n".join([head, *rows]).encode() for head in ("phone,nota", "phone,note"))
    assert 18_500_000 < len(wrong) < LARGEST_FILE
    fields = {**browser.tokens, **ONE, "kind": "file", "file_text": wrong.decode(), "file_name": "wrong.csv"}
    fields |= {"upload": "yes", "file": FileStorage(io.BytesIO(right), "right.csv")}
    page = post_as_browsers_do(browser, "/compose/", fields, multipart=True)
    assert page.status_code == 200 and "right.csv" in page.text and "wrong.csv" not in page.text


def test_a_row_without_a_value_gets_the_default_or_nothing(console: Console) -> None:
    browser = console.browser("sender")
    fields = {**ONE, "kind": "file", "file_text": "phone,name\n254711000001,Ann\n254711000002,\n", "file_name": "a.csv"}
    page = confirmed(browser, **{**fields, "message": "Hi {{name}}"})
    assert "Send to 1 recipient" in page.text
    assert cells(page.text) == ["2", "254711000002", "No value for {{name}}"]
    page = confirmed(browser, **{**fields, "message": "Hi {{name|there}}"})
    assert "Send to 2 recipients" in page.text
    browser.post("/compose/send", **hidden(page))
    messages = console.service.get("/messages").json["data"]
    texts = [console.service.get(f"/messages/{each['message_id']}").json["text"] for each in messages]
    assert sorted(texts) == ["Hi Ann", "Hi there"]


def test_a_list_of_invalid_phones_says_why_each_is_refused(console: Console) -> None:
    browser = console.browser()
    browser.get("/compose/")
    page = browser.post("/compose/confirm", **{**ONE, "kind": "list", "list": "0711\nnobody"})
    assert page.status_code == 400 and "None of the recipients can be sent to." in page.text
    missing = "Not a phone number: the country code is missing"
    assert cells(page.text) == ["1", "0711", missing, "2", "nobody", "Not a phone number"]


def test_digits_beside_a_phone_are_no_part_of_it(console: Console) -> None:
    typed = ["254711009918\t12", "1. 254722000001", "2) 254722000002", "254 744 000 001.00", "254755000001 (2)"]
    browser = console.browser()
    browser.get("/compose/")
    page = browser.post("/compose/confirm", **{**ONE, "kind": "list", "list": "\r\n".join(typed)})
    assert page.status_code == 400 and "None of the recipients can be sent to." in page.text
    assert cells(page.text)[1::3] == typed and "Did you mean" not in page.text
    for phone in typed:
        assert browser.post("/compose/confirm", **{**ONE, "phone": phone}).status_code == 400
        browser.post("/opt-outs/", phones=phone)
    assert console.service.get("/suppressions").json["data"] == []


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


def test_a_cell_of_several_lines_is_sent_as_it_was_confirmed(console: Console) -> None:
    browser = console.browser("sender")
    file = (io.BytesIO(b'phone,name\n254711000001,"Ann\nMay"\n'), "a.csv")
    fields = hidden(confirmed(browser, **{**ONE, "kind": "file", "message": "Hi {{name}}", "file": file}))
    as_browsers_send_it = {name: value.replace("\n", "\r\n") for name, value in fields.items()}
    assert browser.post("/compose/send", **as_browsers_send_it).status_code == 302
    (message,) = console.service.get("/messages").json["data"]
    assert console.service.get(f"/messages/{message['message_id']}").json["text"] == "Hi Ann\nMay"


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


def test_a_file_that_is_not_csv_is_refused(console: Console) -> None:
    browser = console.browser("sender")
    browser.get("/compose/")
    file = (io.BytesIO(b"phone,name\n" + b"254711000001,x" * 10_000), "a.csv")
    response = browser.post("/compose/confirm", **{**ONE, "kind": "file", "file": file})
    assert response.status_code == 400 and "This is not a CSV file." in response.text and "a.csv" not in response.text


def test_an_empty_value_leaves_the_default_of_the_message(console: Console) -> None:
    page = confirmed(console.browser("sender"), **{**ONE, "message": "Hi {{name|there}}", "value_name": ""})
    assert "Hi there" in page.text


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


@pytest.mark.parametrize(
    "hours", [{"quiet_from": "21:00"}, {"quiet_until": "07:00"}, {"quiet_from": "21:00", "quiet_until": "21:00"}]
)
def test_wrong_quiet_hours_are_one_mistake(console: Console, hours: dict[str, str]) -> None:
    browser = console.browser()
    browser.get("/compose/")
    page = browser.post("/compose/confirm", **{**ONE, **hours}).text
    assert page.count('class="error"') == 1 and "Enter a time in the future." not in page


def test_too_few_credits_are_reported_before_sending(console: Console) -> None:
    other = console.service.new_account("poor", credits=1)
    browser = console.browser("owner", other)
    page = confirmed(browser, **{**ONE, "kind": "list", "list": "254711000001\n254711000002"})
    assert "does not cover" in page.text and "Send to 2" not in page.text


def test_an_expired_price_is_shown_again(console: Console) -> None:
    browser = console.browser()
    values = hidden(confirmed(browser, **ONE)) | {"quote_id": "019cad1e-2d10-7b55-a6c1-0f4e9d2b7a38"}
    page = browser.post("/compose/send", **values)
    assert page.status_code == 400 and "The price has expired." in page.text and "Send to 1 recipient" in page.text
    assert browser.post("/compose/send", **hidden(page)).status_code == 302
    assert len(sent(console)) == 1


def test_times_are_in_the_persons_time_zone(console: Console) -> None:
    person_browser = console.browser()
    with console.service.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE person SET time_zone = 'Africa/Nairobi'")
    console.app.extensions["bulksms_api"].people.clear()
    due = datetime.now(UTC).replace(second=0, microsecond=0) + timedelta(hours=2)
    typed = due.astimezone(ZoneInfo("Africa/Nairobi")).strftime("%Y-%m-%dT%H:%M")
    page = confirmed(person_browser, **{**ONE, "when": "later", "send_at": typed})
    person_browser.post("/compose/send", **hidden(page))
    (send,) = sent(console)
    assert send["status"] == "scheduled" and datetime.fromisoformat(send["send_at"]) == due


def test_a_test_message_reaches_no_phone(console: Console) -> None:
    browser = console.browser()
    browser.get("/", "test")
    page = browser.post("/compose/confirm", "test", **ONE)
    browser.post("/compose/send", "test", **hidden(page))
    assert sent(console) == []
    assert "+254711000001" in browser.get("/messages/", "test").text
    assert "+254711000001" not in browser.get("/messages/").text


def many(console: Console) -> None:
    """More groups and sender IDs than a page of choices has."""
    with console.service.engine.begin() as connection:
        account = {"account": console.service.account_id}
        connection.execute(
            text(
                "INSERT INTO sender_id (account_id, sender_id, state)"
                " SELECT :account, 'SHOP' || n, 'approved' FROM generate_series(1, 250) n"
            ),
            account,
        )
        connection.execute(
            text(
                "INSERT INTO contact_group (id, account_id, name)"
                " SELECT gen_random_uuid(), :account, 'Guests 100% ' || n FROM generate_series(1, 550) n"
            ),
            account,
        )


def test_every_group_and_sender_id_can_be_found_and_chosen(console: Console) -> None:
    many(console)
    browser = console.browser("sender")
    page = browser.get("/compose/").text
    assert "Search for a group" in page and "Search for a sender ID" in page
    search = {"kind": "group", "message": "Kept text", "find_group": "0% 547", "find_sender": "shop248", "check": "yes"}
    page = browser.post("/compose/", **search).text
    found = re.search(r'<option value="([0-9a-f-]{36})">Guests 100% 547 ', page)
    assert found and "Kept text" in page
    assert re.findall(r'<option value="(SHOP\d+)"', page) == ["SHOP248"]
    chosen = {"group_id": found.group(1), "sender_id": "SHOP248"}
    page = browser.post("/compose/", **{**search, **chosen, "find_group": "", "find_sender": ""}).text
    assert f'<option value="{found.group(1)}" selected' in page and '<option value="SHOP248" selected' in page


def test_a_reply_can_come_from_every_sender_id(console: Console) -> None:
    many(console)
    browser = console.browser("sender")
    assert "Search for a sender ID" in browser.get("/conversations/254711000009").text
    page = browser.post("/conversations/254711000009", find_sender="SHOP248", message="Kept text", check="yes").text
    assert re.findall(r'<option value="(SHOP\d+)"', page) == ["SHOP248"] and "Kept text" in page
    assert sent(console) == []


def test_a_message_that_is_too_long_is_not_cut_by_the_browser(console: Console) -> None:
    page = console.browser().get("/compose/").text
    assert "maxlength" not in page[page.index('<textarea id="message"') :].partition(">")[0]


def test_the_confirmation_shows_the_rules(console: Console) -> None:
    with console.service.engine.begin() as connection:
        set_quiet_hours(connection, console.service.account_id, "marketing", (21 * 60, 8 * 60))
        set_cap(connection, console.service.account_id, "marketing", (3, 168))
    fields = {**ONE, "kind": "list", "list": "254711000001\n254711000002", "category": "marketing"}
    fields |= {"stop_share": "20", "stop_over": "50", "canary": "50%"}
    page = confirmed(console.browser("sender"), **fields).text
    assert "Messages wait during the quiet hours." in page
    assert re.search("21:00 . 08:00 in the recipient's time", page) and "the account's rule for this category" in page
    assert "20% of at least 50 messages with a result" in page
    assert "3 in 168 hours" in page and "<dt>Send first</dt><dd>1</dd>" in page


def test_characters_are_replaced_in_a_message_with_placeholders(console: Console) -> None:
    browser = console.browser("sender")
    browser.get("/compose/")
    fields = {**ONE, "message": "\u201cHi\u201d {{name|friend}} \u2026", "value_name": "Ann", "check": "yes"}
    page = browser.post("/compose/", **fields).text
    plain = re.search(r'name="plain_text" value="([^"]*)"', page)
    assert plain and unescape(plain.group(1)) == '"Hi" {{name|friend}} ...'
    page = browser.post("/compose/", **fields, replace="yes", plain_text=unescape(plain.group(1))).text
    assert "&#34;Hi&#34; {{name|friend}} ...</textarea>" in page and "The message needs Unicode" not in page


def test_a_character_of_a_value_or_without_a_replacement_is_not_replaced(console: Console) -> None:
    browser = console.browser("sender")
    browser.get("/compose/")
    for message, name in (("Hi {{name}}", "\u201cAnn\u201d"), ("\u20b9 for {{name}}", "Ann")):
        page = browser.post("/compose/", **{**ONE, "message": message, "value_name": name, "check": "yes"}).text
        assert "The message needs Unicode" in page and 'name="plain_text"' not in page


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
