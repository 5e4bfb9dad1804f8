"""Who gets a message and who is left out: the same on each page, with the reason, and before it is sent."""

import pytest

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


def test_rows_of_people_who_have_opted_out_elsewhere_are_left_out(console: Console) -> None:
    browser = console.browser("sender")
    rows = "phone,Opted Out\n254711000006,TRUE\n254711000007,FALSE\n254711000008,\n"
    page = confirmed(browser, **{**ONE, "kind": "file", "file_text": rows, "file_name": "a.csv"})
    assert "<dt>Recipients</dt><dd>2</dd>" in page.text and "<dt>Opted out</dt><dd>1 row</dd>" in page.text


def test_rows_of_people_who_have_not_agreed_are_counted_before_sending(console: Console) -> None:
    """The column of a customer export of Shopify."""
    browser = console.browser("sender")
    rows = "Phone,Accepts SMS Marketing\n254711000006,yes\n254711000007,no\n"
    page = confirmed(browser, **{**ONE, "kind": "file", "file_text": rows, "file_name": "a.csv"})
    assert "<dt>No consent to marketing</dt><dd>1 row <span" in page.text


def test_rows_with_more_cells_than_names_are_told_before_sending(console: Console) -> None:
    browser = console.browser("sender")
    rows = "phone,name\n254711000006,Ann\n254711000007,Ben\n254711000008,Example, Cid\n"
    page = confirmed(browser, **{**ONE, "kind": "file", "file_text": rows, "file_name": "a.csv"})
    assert "1 row has more cells than the first row has names" in page.text
