"""The back button and a reload after a send: nothing is sent a second time, and the page says so."""

import re
from typing import Any

from tests.harness.console import Browser, Console
from tests.integration.console.test_compose import ONE, confirmed, hidden, sent

ALREADY = "This was already sent"


def shown_form(browser: Browser) -> dict[str, Any]:
    """A message as it is written on a page, with the key of that page."""
    page = browser.get("/compose/")
    key = re.search(r'name="key" value="([^"]+)"', page.text)
    assert key is not None
    return {**ONE, "key": key[1]}


def test_it_works(console: Console) -> None:
    browser = console.browser("sender")
    form = shown_form(browser)
    page = confirmed(browser, **form)
    browser.post("/compose/send", **hidden(page))
    (send,) = sent(console)
    back = browser.post("/compose/confirm", **form)
    assert back.status_code == 409 and ALREADY in back.text and "Send to 1 recipient" not in back.text
    assert browser.path(f"/sends/{send['send_id']}") in back.text


def test_a_correction_of_a_message_whose_sending_nobody_confirmed_is_not_said_to_be_sent(console: Console) -> None:
    browser = console.browser("sender")
    form = shown_form(browser)
    values = hidden(confirmed(browser, **form))
    browser.post("/compose/send", **values)
    with browser.client.session_transaction() as cookie:
        del cookie["sent"]  # as after a response that did not arrive
    corrected = hidden(confirmed(browser, **{**form, "message": "Corrected"}))
    page = browser.post("/compose/send", **corrected)
    assert page.status_code == 409 and ALREADY not in page.text and "The one shown here was not sent" in page.text
    assert [each["message"] for each in sent(console)] == ["Hello"]


def test_another_message_that_is_written_from_one_that_was_sent_is_sent(console: Console) -> None:
    browser = console.browser("sender")
    form = shown_form(browser)
    browser.post("/compose/send", **hidden(confirmed(browser, **form)))
    other = {**form, "message": "Hello again"}
    for _ in range(2):
        values = hidden(confirmed(browser, **other))
        assert values["key"] != form["key"]
    browser.post("/compose/send", **values)
    assert sorted(each["message"] for each in sent(console)) == ["Hello", "Hello again"]
    assert ALREADY in browser.post("/compose/confirm", **other).text
