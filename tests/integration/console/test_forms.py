"""Forms of groups, opt-outs, sender IDs, keys, webhooks and people: what they do, and say of bad input."""

import io
import re
import time
from html import unescape
from typing import Any

import pytest

from console.views import usage
from shared.inbound import Inbound, store
from shared.people.second_factor import code_at
from tests.harness.console import Console
from tests.harness.people import PASSWORD

TOO_LONG = "x" * 300


def test_a_group_is_made_renamed_filled_and_deleted(console: Console) -> None:
    browser = console.browser("sender")
    browser.get("/groups/")
    place = browser.post("/groups/", name="Guests", key="a-group").headers["Location"]
    assert browser.post("/groups/", name="Guests", key="a-group").headers["Location"] == place
    taken = browser.post("/groups/", name="Guests", key="another")
    assert taken.status_code == 400 and "This name is taken." in taken.text and 'value="Guests"' in taken.text
    added = browser.submit(f"{place}/contacts", phones="+254 711 000 001\n0711\n254711000002", follow=True)
    assert "2 contacts added." in added.text and "1 invalid: 0711" in added.text
    empty = browser.submit(f"{place}/contacts", phones=" ")
    assert empty.status_code == 400 and "Add at least one phone number." in empty.text
    assert "+254711000002" not in browser.open(f"{place}?phone=254711000001").text
    browser.submit(f"{place}/contacts/remove", phone="254711000001")
    assert "254711000002" in browser.open(f"{place}/contacts.csv").text
    browser.open(place)
    assert "Visitors" in browser.submit(f"{place}/name", name="Visitors", follow=True).text
    wrong = browser.submit(f"{place}/name", name="")
    assert wrong.status_code == 400 and 'id="name-error"' in wrong.text
    browser.submit(f"{place}/delete")
    assert browser.open(place).status_code == 404


def test_a_file_is_imported_and_its_bad_rows_are_shown(console: Console) -> None:
    group = console.service.post("/groups", name="Guests").json["group_id"]
    browser = console.browser("sender")
    browser.get(f"/groups/{group}")
    none = browser.post(f"/groups/{group}/import")
    assert none.status_code == 400 and "Choose a file." in none.text
    rows = b"phone,name\n254711000001,Ann\nnonsense,Ben\n"
    response = browser.post(f"/groups/{group}/import", file=(io.BytesIO(rows), "guests.csv"))
    console.service.import_files()
    page = browser.open(response.headers["Location"])
    assert "Completed" in page.text and "nonsense" in page.text and "Not a phone number" in page.text
    assert "nonsense" in browser.open(response.headers["Location"] + "/errors.csv").text
    part = browser.open(response.headers["Location"] + "/progress")
    assert part.headers["HX-Refresh"] == "true" and "hx-get" not in part.text


def test_a_possible_opt_out_is_decided_by_one_click(console: Console) -> None:
    browser, service = console.browser("sender"), console.service
    number = service.approve(service.account_id, "254204999001")
    for phone in ("254711000071", "254711000072"):
        service.transact(store, "main", [Inbound(phone, number, "STOP or I call the police")])
    page = browser.get("/opt-outs/").text
    assert page.count("STOP or I call the police") == 2
    confirmed = browser.post("/opt-outs/possible/254711000071/confirm", follow=True)
    assert "The phone number is opted out." in confirmed.text
    dismissed = browser.post("/opt-outs/possible/254711000072/dismiss", follow=True).text
    assert "The phone number gets marketing again." in dismissed
    assert "STOP or I call the police" not in dismissed


def test_a_person_names_the_column_and_the_charset_of_a_file(console: Console) -> None:
    group = console.service.post("/groups", name="Guests").json["group_id"]
    browser = console.browser("sender")
    browser.get("/")
    columns = "Home Phone;Work Phone;Имя\n254711000001;254711000002;Анна\n".encode("cp1251")
    for path in (f"/groups/{group}/import", "/opt-outs/import"):
        page = browser.post(path, file=(io.BytesIO(columns), "guests.csv"))
        assert page.status_code == 400 and 'id="charset-error">The file is not in UTF-8.' in page.text
        page = browser.post(path, charset="windows-1251", file=(io.BytesIO(columns), "guests.csv"))
        assert page.status_code == 400 and 'id="file-error">Several columns may have the phone numbers' in page.text
        assert '<option value="2">Work Phone: 254711000002</option>' in page.text
        chosen = {"charset": "windows-1251", "phone_column": "2"}
        assert browser.post(path, **chosen, file=(io.BytesIO(columns), "guests.csv")).status_code == 302
    console.service.import_files()
    (contact,) = console.service.get(f"/groups/{group}/contacts").json["data"]
    assert (contact["phone"], contact["fields"]["column_3"]) == ("254711000002", "Анна")
    made = console.service.get("/imports").json["data"][0]["import_id"]
    page = browser.get(f"/groups/imports/{made}").text
    assert "<dd>Work Phone</dd>" in page and "<dd>KE 1</dd>" in page


def test_opt_outs_are_added_found_and_removed(console: Console) -> None:
    browser = console.browser("sender")
    browser.get("/opt-outs/")
    fields = {"phones": "254711000001\n0711", "category": "marketing", "reason": "asked by phone", "sender_id": ""}
    page = browser.post("/opt-outs/", follow=True, **fields)
    assert "1 opt-out added." in page.text and "0711" in page.text and "asked by phone" in page.text
    wrong = browser.post("/opt-outs/", phones="254711000002", reason=TOO_LONG)
    assert wrong.status_code == 400 and 'id="reason-error"' in wrong.text and TOO_LONG in wrong.text
    assert "No opt-outs found" in browser.get("/opt-outs/?phone=254711000099").text
    assert browser.get("/opt-outs/?phone=abc").status_code == 200
    file = (io.BytesIO(b"phone\n254711000003\n"), "out.csv")
    assert "1 opt-out added." in browser.post("/opt-outs/import", follow=True, file=file).text
    assert "254711000003" in browser.get("/opt-outs/opt-outs.csv").text
    browser.post("/opt-outs/254711000001/delete", category="marketing", sender_id="")
    for scope in ({}, {"category": "marketing"}):
        console.service.post("/suppressions", phones=["254711000004"], **scope)
    browser.post("/opt-outs/254711000004/delete", category="", sender_id="")
    left = console.service.get("/suppressions").json["data"]
    assert [(each["phone"], each["category"]) for each in left] == [
        ("254711000003", None),
        ("254711000004", "marketing"),
    ]


def test_errors_are_in_peoples_words_at_their_fields(console: Console) -> None:
    browser = console.browser("owner")
    browser.get("/")
    page = browser.post("/api-keys/new", name="Shop")
    assert page.status_code == 400 and 'id="scopes-error">Choose what the key may do.' in page.text
    for name in ("", "not an address", "jürgen@example.com"):
        page = browser.post("/people/invitations", email=name, role="sender")
        assert 'id="email-error">Enter an e-mail address' in page.text and "ASCII" not in page.text
    for sender in ("", "SIXTEENCHARACTER", "SIXTEENCHARACTERS", "what?!"):
        page = browser.post("/sender-ids/", sender_id=sender)
        assert 'id="sender_id-error">Use up to 11 letters and digits' in page.text and "1 to 15" not in page.text
    group = console.service.post("/groups", name="Guests").json["group_id"]
    page = browser.get(f"/groups/{group}?phone=abc")
    assert 'id="phone-error">This is not a phone number' in page.text and "phone: " not in page.text


def test_a_key_shows_its_secret_once(console: Console) -> None:
    browser = console.browser("owner")
    browser.get("/api-keys/new")
    fields = {"name": "Shop", "scopes": ["sms:send", "sms:read"], "allowed_ips": "", "key": "a-key"}
    made = browser.post("/api-keys/new", **fields)
    key, secret = (re.search(rf"<code>({kind}_\w+)</code>", made.text) for kind in ("smsk", "smss"))
    assert key and secret
    again = browser.post("/api-keys/new", **fields)
    assert "shown once and is not shown again" in again.text and "smss_" not in again.text
    pair = {"api_key": key.group(1), "api_secret": secret.group(1)}
    assert console.service.client.post("/api/v1/auth/token", json=pair).status_code == 200
    assert "smss_" in browser.post(f"/api-keys/{key.group(1)}/rotate").text
    browser.post(f"/api-keys/{key.group(1)}/revoke")
    assert console.service.client.post("/api/v1/auth/token", json=pair).status_code == 401
    wrong = browser.post("/api-keys/new", name="Kept name", scopes="sms:send", allowed_ips="my house")
    assert wrong.status_code == 400 and 'id="allowed_ips-error"' in wrong.text and "Kept name" in wrong.text
    assert re.search(r'value="sms:send" checked', wrong.text) and not re.search(r'value="sms:read" checked', wrong.text)


def test_a_webhook_is_made_changed_tested_and_deleted(console: Console) -> None:
    browser = console.browser("owner")
    browser.get("/webhooks/new")
    fields: dict[str, Any] = {"url": "https://example.com/hook", "description": "Orders", "events": "message.delivered"}
    made = browser.post("/webhooks/new", **fields)
    assert re.search(r"<code>whsec_[^<]+</code>", made.text)
    (hook,) = console.service.get("/webhooks").json["data"]
    place = f"/webhooks/{hook['webhook_id']}"
    assert hook["events"] == ["message.delivered"]
    assert "Orders" in browser.get(place).text
    wrong = browser.post(f"{place}/edit", url="ftp://example.com", description="Kept")
    assert wrong.status_code == 400 and 'id="url-error"' in wrong.text and "Kept" in wrong.text
    browser.post(f"{place}/edit", url="https://example.com/other", description="")
    assert console.service.get(place).json["events"] is None
    browser.post(f"{place}/disable")
    assert console.service.get(place).json["status"] == "disabled"
    browser.post(f"{place}/enable")
    tested = browser.post(f"{place}/test", follow=True).text
    assert "A test event is on its way." in tested and f'{place}/log" hx-trigger="every' in tested
    assert browser.get(f"{place}/log", headers={"HX-Request": "true"}).text.startswith('<section id="log"')
    assert "whsec_" in browser.post(f"{place}/rotate").text
    browser.post(f"{place}/delete")
    assert browser.get(place).status_code == 404


def test_the_log_of_changes_names_the_person(console: Console) -> None:
    browser = console.browser("owner")
    browser.get("/sender-ids/")
    browser.post("/sender-ids/", sender_id="NEWNAME")
    page = browser.get("/changes/").text
    assert "Ann Otieno" in page and "Sender ID requested" in page
    ids = page[page.index('<details class="ids') :].partition("</details>")[0]
    assert "sender.requested" in ids and "person 0" in ids and "req_" in ids


def test_a_person_sets_their_language_zone_and_password(console: Console) -> None:
    person, browser = console.person("owner"), console.stranger()
    browser.sign_in_by_link(console.link(person))
    browser.open("/me/profile")
    page = browser.submit("/me/profile", follow=True, name="Ann", locale="de", time_zone="Africa/Nairobi")
    assert "Ihr Profil ist gespeichert." in page.text and '<html lang="de">' in page.text
    wrong = browser.submit("/me/profile", name="", locale="de", time_zone="Mars/Base")
    assert wrong.status_code == 400
    browser.open("/me/security")
    wrong = browser.submit("/me/password", password="not the right password", new_password="another long password")
    assert wrong.status_code == 400 and "Das Passwort ist falsch." in wrong.text
    short = browser.submit("/me/password", password=PASSWORD, new_password="short")
    assert short.status_code == 400 and 'id="new_password-error"' in short.text
    browser.submit("/me/password", password=PASSWORD, new_password="another long password")
    other = console.stranger()
    other.open("/sign-in")
    assert other.submit("/sign-in", email=person.email, password="another long password").status_code == 302


def test_a_second_factor_is_set_up_with_a_picture_and_its_codes(console: Console) -> None:
    person, browser = console.person("owner"), console.stranger()
    browser.sign_in_by_link(console.link(person))
    browser.open("/me/security")
    refused = browser.submit("/me/totp", password="not the right password")
    assert refused.status_code == 400 and "Wrong password." in refused.text
    page = browser.submit("/me/totp", password=PASSWORD)
    assert "<svg" in page.text and 'class="qr"' in page.text and "<style" not in page.text
    secret, uri = (re.search(rf'name="{name}" value="([^"]+)"', page.text) for name in ("secret", "uri"))
    assert secret and uri
    kept = {"secret": secret.group(1), "uri": unescape(uri.group(1))}
    wrong = browser.submit("/me/totp/confirm", code="000000", **kept)
    assert wrong.status_code == 400 and 'id="code-error"' in wrong.text and kept["secret"] in wrong.text
    code = code_at(kept["secret"], int(time.time() // 30))
    assert len(re.findall(r"<li>[^<]+</li>", browser.submit("/me/totp/confirm", code=code, **kept).text)) >= 10
    browser.open("/me/security")
    refused = browser.submit("/me/totp/disable", password="not the right password")
    assert refused.status_code == 400 and "Wrong password." in refused.text
    browser.submit("/me/totp/disable", password=PASSWORD)
    assert person.get("/me").json["person"]["totp"] is False


def test_one_contact_is_added_and_changed(console: Console) -> None:
    service, browser = console.service, console.browser("sender")
    group = service.post("/groups", name="Guests").json["group_id"]
    place = f"/groups/{group}/contact"
    assert 'name="field_name" value="name"' in browser.get(place).text
    fields: dict[str, Any] = {"field_name": ["name", "city"], "field_value": ["Ann", "Köln"], "tags": "vip, new"}
    wrong = browser.post(place, phone="0711", key="wrong", **fields)
    assert wrong.status_code == 400 and 'id="phone-error"' in wrong.text
    assert 'value="Köln"' in wrong.text and 'value="vip, new"' in wrong.text
    assert browser.post(place, phone="+254 711 000 001", key="right", **fields).status_code == 302
    (contact,) = service.get(f"/groups/{group}/contacts").json["data"]
    assert contact == {"phone": "254711000001", "fields": {"name": "Ann", "city": "Köln"}, "tags": ["vip", "new"]}
    place += "?phone=254711000001"
    page = browser.get(place).text
    assert 'value="Ann"' in page and 'value="vip, new"' in page
    fields = {"field_name": ["name", "city", "bad name!"], "field_value": ["Anna", "", "x"], "tags": ""}
    wrong = browser.post(place, phone="254711000001", key="bad", **fields)
    assert wrong.status_code == 400 and 'id="field_value-error"' in wrong.text and 'value="bad name!"' in wrong.text
    fields = {"field_name": ["name", "city"], "field_value": ["Anna", ""], "tags": ""}
    browser.post(place, phone="254711000001", key="changed", **fields)
    (contact,) = service.get(f"/groups/{group}/contacts").json["data"]
    assert contact == {"phone": "254711000001", "fields": {"name": "Anna"}, "tags": []}
    assert console.browser("viewer").get(place).status_code == 403


def test_a_change_of_a_contact_keeps_its_phone_number(console: Console) -> None:
    service, browser = console.service, console.browser("sender")
    group = service.new_group(["254711000001", "254711000002"])
    place = f"/groups/{group}/contact?phone=254711000001"
    shown = browser.get(place).text
    assert "+254711000001" in shown and "remove the contact, and add one" in shown and 'name="phone"' not in shown
    fields = {"field_name": "name", "field_value": "Ann", "tags": ""}
    for other in ("254711000009", "254711000002", ""):
        page = browser.post(place, phone=other, **fields)
        assert page.status_code == 400 and "To change the phone number" in page.text and 'value="Ann"' in page.text
    assert browser.post(place, **fields).status_code == 302
    listed = service.get(f"/groups/{group}/contacts").json["data"]
    assert {each["phone"]: each["fields"] for each in listed} == {"254711000001": {"name": "Ann"}, "254711000002": {}}


@pytest.fixture
def used_for_a_year(console: Console) -> str:
    """Usage of four outcomes on each of 365 days, each day from another sender ID. Returns the query for all of it."""
    console.service.execute(
        "INSERT INTO usage (account_id, began_at, sender_id, country, lane, status, messages, credits)"
        " SELECT :account, day AT TIME ZONE 'UTC', 'S' || to_char(day, 'YYYYMMDD'), 'KE', 1, each.status, 10, 7"
        " FROM generate_series(timestamp '2025-01-01', timestamp '2025-12-31', interval '1 day') day,"
        " unnest(CAST('{delivered,failed,expired,canceled}' AS message_status[])) each (status)",
        account=console.service.account_id,
    )
    return "since=2025-01-01&until=2025-12-31"


def test_a_table_of_usage_that_is_cut_says_so(
    console: Console, used_for_a_year: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(usage, "MOST_PAGES", 1)
    page = console.browser("viewer").get(f"/usage/?{used_for_a_year}&by=sender_id").text
    assert "The table has only the first of very many entries." in page
