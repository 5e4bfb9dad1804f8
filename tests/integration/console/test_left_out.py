"""Who gets a message and who is left out: the same on each page, with the reason, and before it is sent."""

from typing import Any

import pytest
from sqlalchemy import text

from tests.harness.console import Console
from tests.integration.console.test_compose import ONE, cells, confirmed, hidden

OPTED_OUT = ["254711000001", "254711000002"]
GUESTS = {**ONE, "kind": "group", "message": "Hi {{name}}"}


def guests(console: Console) -> str:
    """A group of three with names, of whom the first two have opted out."""
    service = console.service
    group = str(service.post("/groups", name="Guests").json["group_id"])
    names = {"254711000001": "Ann", "254711000002": "Ben", "254711000003": "Cem"}
    contacts = [{"phone": phone, "fields": {"name": name, "city": "Kisumu"}} for phone, name in names.items()]
    assert service.post(f"/groups/{group}/contacts", contacts=contacts).status_code == 200
    assert service.post("/suppressions", phones=OPTED_OUT, reason="asked by phone").status_code == 200
    return group


@pytest.mark.parametrize("message", ["Hi", "Hi {{name}}"])
def test_it_works_for_a_group_with_opted_out_contacts(console: Console, message: str) -> None:
    browser = console.browser("sender")
    page = confirmed(browser, **{**GUESTS, "group_id": guests(console), "message": message})
    assert "Contacts who have opted out, or to whom the account may not send, are left out" in page.text
    assert '<dd>3</dd><dd class="note">at most</dd>' in page.text and "credits at most" in page.text
    send = browser.post("/compose/send", **hidden(page)).headers["Location"]
    for path in (send, f"{send}/progress"):
        shown = browser.open(path).text
        assert "<h1>1 recipient</h1>" in shown and "<h2>Not sent to</h2>" in shown
        assert '<dt>Opted out</dt><dd class="number">2</dd>' in shown and 'id="rejected"' not in shown


def test_a_send_that_leaves_nobody_out_says_nothing_of_it(console: Console) -> None:
    browser, send = console.browser("viewer"), console.service.bulk(["254711000001"], "Hi").json["send_id"]
    assert "Not sent to" not in browser.get(f"/sends/{send}").text


def test_the_page_of_a_send_to_a_list_shows_whom_it_left_out(console: Console) -> None:
    send = console.service.bulk(["254711000005", "254711000005", "0711"], "Hi").json["send_id"]
    page = console.browser("viewer").get(f"/sends/{send}").text
    assert '<dt>Duplicates</dt><dd class="number">1</dd>' in page
    assert '<dt>Invalid</dt><dd class="number">1</dd>' in page and "Opted out" not in page


@pytest.mark.parametrize(
    ("language", "reasons"),
    [
        (
            "en",
            [
                "Listed twice",
                "Not a phone number: the country code is missing",
                "Not a phone number. Did you mean 254711000009?",
                "A spreadsheet has changed this phone number.",
                "Opted out",
            ],
        ),
        (
            "de",
            [
                "Doppelt aufgeführt",
                "Keine Telefonnummer: Die Landesvorwahl fehlt",
                "Keine Telefonnummer. Meinten Sie 254711000009?",
                "Eine Tabellenkalkulation hat diese Telefonnummer verändert.",
                "Abgemeldet",
            ],
        ),
    ],
)
def test_a_page_says_of_each_why_they_got_no_message(console: Console, language: str, reasons: list[str]) -> None:
    guests(console)
    phones = ["254711000005", "254711000005", "0711", "+254711000009", "2.54711E+11", OPTED_OUT[0]]
    send, browser = console.service.bulk(phones, "Hi").json["send_id"], console.browser("viewer")
    page = browser.get(f"/sends/{send}").text
    assert f'<a id="rejected" href="{browser.path(f"/sends/{send}/rejected")}"' in page
    browser.open("/me/profile")
    browser.submit("/me/profile", name="Ann", locale=language, time_zone="UTC")
    found = cells(browser.get(f"/sends/{send}/rejected").text)
    assert found[0::3] == ["2", "3", "4", "5", "6"] and found[1::3] == phones[1:]
    assert all(said.startswith(reason) for said, reason in zip(found[2::3], reasons, strict=True)), found


def test_a_list_of_the_left_out_that_is_no_longer_stored_says_so(console: Console) -> None:
    send, browser = console.service.bulk(["254711000005", "0711"], "Hi").json["send_id"], console.browser("viewer")
    with console.service.engine.begin() as connection:
        connection.execute(text("DELETE FROM send_rejection WHERE send_id = :send"), {"send": send})
    assert "Nobody is listed here" in browser.get(f"/sends/{send}/rejected").text


def test_the_first_of_many_who_are_left_out_are_listed(console: Console) -> None:
    send = console.service.bulk(["254711000005", *["0711"] * 1005], "Hi").json["send_id"]
    page = console.browser("viewer").get(f"/sends/{send}/rejected").text
    assert "The first 1,000 of 1,005." in page and len(cells(page)) == 3000


@pytest.mark.parametrize("chosen", [{}, {"preview": "1"}, {"preview_for": "254711000001"}])
def test_the_preview_shows_somebody_who_gets_the_message(console: Console, chosen: dict[str, str]) -> None:
    browser, group = console.browser("sender"), guests(console)
    rows = "phone,name\n254711000001,Ann\n254711000002,Ben\n254711000003,Cem\n"
    of_file = {"kind": "file", "file_text": rows, "file_name": "a.csv"}
    for recipients in ({"group_id": group}, of_file):
        page = confirmed(browser, **{**GUESTS, **recipients, **chosen}).text
        assert '<p class="bubble">Hi Cem</p>' in page and '<p class="bubble-note">+254711000003</p>' in page
        page = browser.post("/compose/", **{**GUESTS, **recipients, **chosen}, check="yes").text
        refused = "+254711000002" if "preview" in chosen else "+254711000001"
        assert f"{refused} gets no message. This phone number has opted out of your messages." in page
        assert '<p class="bubble">Hi Cem</p>' in page and "<dt>Price</dt>" in page


def test_the_preview_shows_somebody_far_down_a_list(console: Console) -> None:
    guests(console)
    phones = "\n".join([*(OPTED_OUT * 20), "254711000003"])
    page = confirmed(console.browser(), **{**ONE, "kind": "list", "list": phones})
    assert '<p class="bubble-note">+254711000003</p>' in page.text


def test_a_preview_of_whom_nobody_gets_says_why(console: Console) -> None:
    guests(console)
    browser = console.browser()
    live = browser.post("/compose/quote", **{**ONE, "kind": "list", "list": "\n".join(OPTED_OUT)})
    assert live.status_code == 200 and "has opted out of your messages." in live.text and "<dt>Price" not in live.text


def test_both_pages_count_those_who_get_it(console: Console) -> None:
    guests(console)
    phones = [str(254711000003 + number) for number in range(35)]
    fields = {**ONE, "kind": "list", "list": "\n".join([phones[0], *phones, "0711", OPTED_OUT[0]])}
    browser = console.browser("sender")
    page = browser.post("/compose/", **fields, check="yes").text
    assert "<dt>Price</dt><dd>35</dd>" in page and "for 35 recipients" in page
    page = confirmed(browser, **fields).text
    assert "<dt>Recipients</dt><dd>35</dd>" in page and "Send to 35 recipients" in page


def test_a_small_file_is_counted_as_a_whole_while_the_message_is_written(
    console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser = console.browser("sender")
    rows = "phone\n" + "".join(f"{254711000003 + number}\n" for number in range(30)) + "0711\n"
    fields = {**ONE, "kind": "file", "file_text": rows, "file_name": "a.csv"}
    assert 'hx-params="not file"' in browser.post("/compose/", **fields, check="yes").text
    live = browser.post("/compose/quote", **fields, file_rows="31", file_sample=rows[:100]).text
    assert "<dt>Price</dt><dd>30</dd>" in live and "for 30 recipients" in live
    monkeypatch.setattr("console.views.compose.SMALL_FILE", 100)
    assert 'hx-params="not file,file_text"' in browser.post("/compose/", **fields, check="yes").text


def test_an_estimate_says_that_it_is_one(console: Console, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("console.message.quotes.EXACT_RECIPIENTS", 2)
    fields = {**ONE, "kind": "list", "list": "254711000003\n254711000004\n0711"}
    live = console.browser().post("/compose/quote", **fields).text
    assert "<dt>Price, about</dt><dd>3</dd>" in live and "for up to 3 recipients" in live


def contacts_without_fields(console: Console) -> str:
    return console.service.new_group(["254711000006", "254711000007"])


def test_the_placeholder_that_has_no_value_is_named(console: Console) -> None:
    browser = console.browser("sender")
    fields: dict[str, Any] = {**GUESTS, "group_id": guests(console), "message": "Hi {{nothing}}"}
    live = browser.post("/compose/quote", **fields).text
    assert "The placeholder {{nothing}} has no value." in live
    page = browser.post("/compose/confirm", **fields)
    assert page.status_code == 400
    assert "None of the recipients has a value for the placeholder {{nothing}}." in page.text
    assert cells(page.text).count("No value for {{nothing}}") == 3
    for shown in (live, page.text):
        assert "Fields of the first contacts: <code>{{city}}</code>, <code>{{name}}</code>" in shown
    page = browser.post("/compose/confirm", **{**fields, "group_id": contacts_without_fields(console)})
    assert "The first contacts of this group have no fields for placeholders." in page.text


def test_a_contact_without_a_value_is_not_previewed(console: Console) -> None:
    service, browser = console.service, console.browser("sender")
    group = contacts_without_fields(console)
    service.post(f"/groups/{group}/contacts", contacts=[{"phone": "254711000008", "fields": {"name": "Ida"}}])
    live = browser.post("/compose/quote", **{**GUESTS, "group_id": group}).text
    assert "+254711000006 gets no message. The placeholder {{name}} has no value." in live
    assert '<p class="bubble">Hi Ida</p>' in live and "<dt>Price</dt><dd>1</dd>" in live
    page = confirmed(browser, **{**GUESTS, "group_id": group}).text
    assert '<p class="bubble">Hi Ida</p>' in page and "No value for {{name}}" in page


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("Hi {{name}}", "2; Unicode only for recipients whose text needs it"),
        ("Hi {{name|you}}, {{city|Kisumu}}", "2; Unicode only for recipients whose text needs it"),
        ("Hi {{city|Kisumu}}", "2 (GSM-7)"),
        ("\u0416", "2 (UCS-2)"),
    ],
)
def test_the_encoding_is_said_as_far_as_it_is_true_of_all(console: Console, message: str, shown: str) -> None:
    browser = console.browser("sender")
    rows = "phone,name\n254711000006,Ann\n254711000007,\u0416\u0430\u043d\n"
    page = confirmed(browser, **{**ONE, "kind": "file", "file_text": rows, "file_name": "a.csv", "message": message})
    assert f"<dd>{shown}</dd>" in page.text.replace("\n", "")
    send = browser.post("/compose/send", **hidden(page)).headers["Location"]
    assert f"<dd>{shown}</dd>" in browser.open(send).text.replace("\n", "")
