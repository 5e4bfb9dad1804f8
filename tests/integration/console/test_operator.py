"""The operator's pages: what each role sees and does, forms that are sent twice, bad input, and stored scripts."""

import html
import io
import itertools
import re
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, NamedTuple
from urllib.parse import urljoin

import pytest

import console.views.operator.doubts as doubts_view
from console.session.operator import REASON_SECONDS
from tests.harness.console import Browser, Console
from tests.harness.live_workers import report_carrier
from tests.harness.people import a_person
from tests.harness.prices import a_draft

SCRIPT = "<script>alert(1)</script>"
PHONES = itertools.count(99_906_700_001)
"""The simulated carrier leaves messages to these in doubt."""
REASON = "ticket 4711: a message has not arrived"


def operators_pages(console: Console) -> list[str]:
    """The paths of all pages that need no object."""
    rules = [rule for rule in console.app.url_map.iter_rules() if rule.rule.startswith("/operator")]
    return [rule.rule for rule in rules if "GET" in (rule.methods or ()) and not rule.arguments]


def pages_of(console: Console) -> list[str]:
    """The same, and those of the service's account and carrier."""
    account = f"/operator/accounts/{console.service.account_id}"
    sender = pending(console)
    message = console.service.send("254711000001", "Hi").json["message_id"]
    prices, version = a_draft(console.service.engine)
    return [
        f"/operator/prices/{prices}",
        f"/operator/prices/versions/{version}",
        f"/operator/prices/versions/{version}.csv",
        *operators_pages(console),
        account,
        f"{account}/refund",
        f"{account}/statements/{datetime.now(UTC):%Y-%m}",
        f"/operator/messages/{message}",
        f"{account}/suspend",
        f"{account}/activate",
        f"{account}/top-up",
        f"{account}/adjust",
        f"{account}/credit",
        f"{account}/verification",
        f"{account}/top-ups/019cad1e-2d10-7b55-a6c1-0f4e9d2b7a38/reverse",
        f"/operator/sender-ids/{sender}/reject",
        f"/operator/sender-ids/{sender}/suspend",
        "/operator/sender-ids/?status=all",
        "/operator/carriers/main/pause",
    ]


def harbour(console: Console) -> str:
    """A sender ID that no other test asks for."""
    return f"HARBOUR{console.service.account_id}"


def pages(browser: Browser, path: str) -> str:
    """A list from its first page to its last."""
    text = browser.open(path).text
    more = re.search(r'href="([^"]+)">Next page', text)
    return text + (pages(browser, html.unescape(urljoin(path, more[1]))) if more else "")


def pending(console: Console, name: str = "") -> str:
    """The id of a sender ID that waits for a decision."""
    name = name or harbour(console)
    made = (
        "INSERT INTO sender_id (account_id, sender_id, state) VALUES (:account, :name, 'pending')"
        " ON CONFLICT (account_id, sender_id) DO UPDATE SET state = 'pending' RETURNING id"
    )
    return str(console.service.scalar(made, account=console.service.account_id, name=name))


@pytest.fixture
def carrier(console: Console) -> Iterator[str]:
    """A carrier that a worker reports."""
    report_carrier(console.service.engine, rate=100, allowed=50)
    yield "main"
    console.service.execute("DELETE FROM carrier_report")
    console.service.execute("DELETE FROM carrier_setting")


class InDoubt(NamedTuple):
    """A message that is in doubt."""

    message_id: str
    send_id: str
    phone: str


@pytest.fixture
def in_doubt(console: Console) -> InDoubt:
    """One of the service's account."""
    phone = str(next(PHONES))
    sent = console.service.bulk([phone]).json
    return InDoubt(sent["messages"][0]["message_id"], sent["send_id"], phone)


def of_the_account(console: Console, page: str = "") -> str:
    return f"/operator/accounts/{console.service.account_id}{page}"


def actions(console: Console) -> list[str]:
    """What the audit log has recorded, oldest first."""
    return list(console.service.scalars("SELECT action FROM audit_log ORDER BY id"))


@pytest.mark.parametrize("role", ["admin", "support"])
def test_an_operator_sees_every_page(console: Console, role: str, carrier: str) -> None:
    browser = console.operator(role)
    paths = pages_of(console)
    assert len(paths) > 15
    for path in paths:
        response = browser.open(path)
        assert response.status_code in (200, 302), (path, response.text)
        assert not re.search(r"<script(?![^>]* src=)|<style|\son\w+=|\sstyle=|javascript:", response.text), path


def test_every_operator_page_is_tested(console: Console) -> None:
    map = console.app.url_map.bind("localhost")
    tried = {map.match(path.partition("?")[0])[0] for path in pages_of(console)}
    endpoints = {rule.endpoint for rule in console.app.url_map.iter_rules() if "GET" in (rule.methods or ())}
    assert {each for each in endpoints if each.startswith("operator.")} == tried


def test_without_an_operator_role_nothing_can_be_seen_or_done(console: Console, carrier: str) -> None:
    owner, paths = console.browser("owner"), pages_of(console)
    before = console.service.get("/balance").json["balance"]
    assert "/operator/" not in owner.get("/").text
    for path in paths:
        if path == "/operator/":
            continue
        response = owner.open(path)
        assert response.status_code == 403 and "You have no role in the installation." in response.text, path
    forms, recorded = changes_of(console), actions(console)
    for path, fields in forms:
        assert owner.submit(path, **fields).status_code == 403, path
    assert actions(console) == recorded and console.service.get("/balance").json["balance"] == before


def changes_of(console: Console) -> list[tuple[str, dict[str, Any]]]:
    """Each form that changes something, filled so that an administrator's would be taken."""
    sender, reason = pending(console), {"reason": REASON}
    prices, version = a_draft(console.service.engine)
    return [
        ("/operator/prices/", {"name": "Mine"}),
        (f"/operator/prices/{prices}/import", {"file": (io.BytesIO(b"prefix,price\n254,1\n"), "prices.csv")}),
        (f"/operator/prices/{prices}/assign", {"default": "yes"}),
        (f"/operator/prices/versions/{version}/publish", {}),
        (f"/operator/prices/versions/{version}/withdraw", {}),
        (of_the_account(console, "/suspend"), reason),
        (of_the_account(console, "/activate"), reason),
        (of_the_account(console, "/top-up"), {"credits": "5", "confirmed": "yes", **reason}),
        (
            of_the_account(console, "/top-ups/019cad1e-2d10-7b55-a6c1-0f4e9d2b7a38/reverse"),
            {"credits": "5", **reason},
        ),
        (of_the_account(console, "/adjust"), {"credits": "-5", **reason}),
        (of_the_account(console, "/credit"), {"credit_limit": "5", **reason}),
        (of_the_account(console, "/refund"), {"kind": "send", "id": "019cad1e-2d10-7b55-a6c1-0f4e9d2b7a38", **reason}),
        (f"/operator/sender-ids/{sender}/approve", {}),
        (f"/operator/sender-ids/{sender}/reject", reason),
        (f"/operator/sender-ids/{sender}/suspend", reason),
        ("/operator/carriers/main/pause", reason),
        ("/operator/carriers/main/resume", {}),
        ("/operator/doubts/resolve", {"message_ids": "019cad1e-2d10-7b55-a6c1-0f4e9d2b7a38", "outcome": "sent"}),
        ("/operator/doubts/report", {"carrier": "main", "apply": "yes", "report": "phone,status\n"}),
        ("/operator/health/guard/release", reason),
    ]


def test_support_changes_nothing(console: Console, carrier: str) -> None:
    support = console.operator("support")
    for path in (of_the_account(console), "/operator/sender-ids/", "/operator/carriers/", "/operator/doubts/"):
        shown = support.open(path).text
        assert not re.search(r"top-up\"|/refund|/suspend|/reject|/approve|/pause|/resolve", shown), path
    forms = changes_of(console)
    posts = {rule.rule for rule in console.app.url_map.iter_rules("operator.access.give")}
    assert posts and len(forms) >= 12
    recorded = actions(console)
    for path, fields in forms:
        response = support.submit(path, **fields)
        assert response.status_code == 403 and "Your role does not allow this." in response.text, path
    assert actions(console) == recorded


def test_a_send_and_a_message_are_refunded_once(console: Console) -> None:
    service, admin, path = console.service, console.operator(), of_the_account(console, "/refund")
    sent = [service.send(phone).json for phone in ("254711000001", "254711000002")]
    service.sweep()
    service.deliver_receipts()
    before = service.get("/balance").json["balance"]
    assert "Refund" in admin.open(path).text
    wrong = admin.submit(path, kind="send", id="17", reason="never arrived")
    assert wrong.status_code == 400 and "Enter the ID of a send" in wrong.text and "never arrived" in wrong.text
    unknown = admin.submit(path, kind="message", id=sent[0]["send_id"], reason="never arrived")
    assert unknown.status_code == 400 and service.get("/balance").json["balance"] == before
    for kind, subject in (("send", sent[0]["send_id"]), ("message", sent[1]["message_id"])):
        for _ in range(2):  # a double click
            done = admin.submit(path, kind=kind, id=subject, reason="never arrived", key=f"{kind}-refund", follow=True)
            assert "1 credit refunded." in done.text
        again = admin.submit(path, kind=kind, id=subject, reason="never arrived")
        assert again.status_code == 400
    assert service.get("/balance").json["balance"] == before + 2


def test_an_account_is_topped_up_once_and_the_top_up_reversed(console: Console) -> None:
    admin, before = console.operator(), console.service.get("/balance").json["balance"]
    admin.open(of_the_account(console, "/top-up"))
    fields = {"credits": "1200", "reason": "invoice 17", "key": f"payment-{console.service.account_id}"}
    response = admin.submit(of_the_account(console, "/top-up"), **fields)
    assert response.status_code == 200 and "Add 1,200 credits" in response.text
    assert console.service.get("/balance").json["balance"] == before
    for _ in range(2):
        done = admin.submit(of_the_account(console, "/top-up"), confirmed="yes", follow=True, **fields)
        assert "1,200 credits added." in done.text and "invoice 17" in done.text
    assert console.service.get("/balance").json["balance"] == before + 1200
    link = re.search(r'href="([^"]+/reverse\?credits=1200)"', done.text)
    assert link
    reverse = link.group(1)
    assert 'value="1200"' in admin.open(reverse).text
    wrong = admin.submit(reverse, credits="many", reason="a mistake")
    assert wrong.status_code == 400 and "Enter a whole number of credits" in wrong.text and "a mistake" in wrong.text
    for _ in range(2):
        done = admin.submit(reverse, credits="1200", reason="a mistake", key="reversal", follow=True)
        assert "1,200 credits reversed." in done.text
    assert console.service.get("/balance").json["balance"] == before
    admin.submit(reverse, credits="1200", reason="a mistake")
    assert console.service.get("/balance").json["balance"] == before
    more = admin.submit(reverse, credits="1300", reason="a mistake")
    assert more.status_code == 400 and "There is a problem" in more.text


def test_credits_are_adjusted_and_the_credit_is_changed(console: Console) -> None:
    admin, before = console.operator(), console.service.get("/balance").json["balance"]
    adjust, credit = of_the_account(console, "/adjust"), of_the_account(console, "/credit")
    admin.open(adjust)
    for _ in range(2):
        done = admin.submit(adjust, credits="-3", reason="wrong price", key="adjustment", follow=True)
        assert "The credits are adjusted." in done.text
    assert console.service.get("/balance").json["balance"] == before - 3
    too_much = admin.submit(adjust, credits="-99999999", reason="wrong price")
    assert too_much.status_code == 400 and "Raise the credit limit first." in too_much.text
    for wrong in ("many", "--5", "0", "1e3"):
        refused = admin.submit(adjust, credits=wrong, reason="wrong price")
        assert refused.status_code == 400 and "wrong price" in refused.text
    admin.open(credit)
    assert admin.submit(credit, credit_limit="-1", spend_threshold="", reason="contract").status_code == 400
    done = admin.submit(credit, credit_limit="700", spend_threshold="5000", reason="contract", follow=True)
    assert "The credit is changed." in done.text and "700" in done.text and "5,000" in done.text
    assert 'value="5000"' in admin.open(credit).text
    admin.submit(credit, credit_limit="0", spend_threshold="", reason="contract")
    balance = console.service.get("/balance").json
    assert (balance["balance"], balance["spend_threshold"]) == (before - 3, None)


def test_an_account_is_suspended_with_a_reason_and_activated(console: Console) -> None:
    admin = console.operator()
    admin.open(of_the_account(console, "/suspend"))
    response = admin.submit(of_the_account(console, "/suspend"), reason=" ")
    assert response.status_code == 400 and "Give a reason." in response.text
    done = admin.submit(of_the_account(console, "/suspend"), reason="unpaid", follow=True)
    assert "The account is suspended." in done.text and "Activate" in done.text
    assert "unpaid" in admin.open(f"/operator/changes/?account_id={console.service.account_id}").text
    named = admin.open(f"/operator/changes/?account_id={console.service.account_id}&actor=Ann+Otieno").text
    assert "unpaid" in named and "Account suspended" in named and "Ann Otieno<br>" in named
    again = admin.submit(of_the_account(console, "/suspend"), reason="unpaid")
    assert again.status_code in (302, 400)
    done = admin.submit(of_the_account(console, "/activate"), reason="paid", follow=True)
    assert "The account is active." in done.text


def test_a_sender_id_is_approved_rejected_and_suspended(console: Console) -> None:
    admin, sender = console.operator(), pending(console)
    queue = admin.open("/operator/sender-ids/")
    assert harbour(console) in queue.text
    for _ in range(2):
        done = admin.submit(f"/operator/sender-ids/{sender}/approve", key="a-decision", follow=True)
        assert "The sender ID is approved." in done.text
    assert harbour(console) not in admin.open("/operator/sender-ids/").text
    assert harbour(console) in pages(admin, "/operator/sender-ids/?status=approved")
    done = admin.submit(f"/operator/sender-ids/{sender}/suspend", reason="complaints", follow=True)
    assert "The sender ID is suspended." in done.text
    assert "complaints" in pages(admin, "/operator/sender-ids/?status=suspended")
    other = pending(console, "BANK")
    done = admin.submit(f"/operator/sender-ids/{other}/reject", reason="somebody else's name", follow=True)
    assert "The sender ID is rejected." in done.text


def test_a_carrier_is_paused_and_resumed(console: Console, carrier: str) -> None:
    admin = console.operator()
    page = admin.open("/operator/carriers/").text
    assert "main" in page and "50" in page and "of 100" in page and "Paused" not in page
    admin.open("/operator/carriers/main/pause")
    done = admin.submit("/operator/carriers/main/pause", reason="maintenance", follow=True)
    assert "The carrier is paused." in done.text
    done = admin.submit("/operator/carriers/main/resume", follow=True)
    assert "The carrier is resumed." in done.text
    changed = [what for what in actions(console) if what.startswith("carrier")]
    assert len(changed) == 2
    assert admin.open("/operator/carriers/nobody/pause").status_code == 404


def test_the_margin_is_shown_by_one_dimension_or_all(console: Console) -> None:
    values = "(:account, '2026-03-01T09:00Z', 'KE', 'one', true, 4711, 3, 8123, false)"
    console.service.execute(f"INSERT INTO margin VALUES {values}", account=console.service.account_id)
    support = console.operator("support")
    assert all(each in support.open("/operator/margin/?since=2026-03-01").text for each in ("4,711", "-8,120", "one"))
    of_countries = support.open("/operator/margin/?since=2026-03-01&by=country").text
    assert "KE" in of_countries and "one" not in re.findall(r"<td[^>]*>(.*?)</td>", of_countries)
    assert "There is a problem" in support.open("/operator/margin/?since=never").text


def test_support_sees_whole_phones_only_with_a_recorded_reason(console: Console, in_doubt: InDoubt) -> None:
    support, doubts = console.operator("support"), f"/operator/doubts/?send_id={in_doubt.send_id}"
    recorded = actions(console).count("person.sees_texts")
    page = support.open(doubts).text
    assert in_doubt.message_id not in page  # no checkbox: support resolves nothing
    assert in_doubt.phone not in page and "Show full phone numbers" in page
    short = support.submit("/operator/access/", reason="look")
    assert short.status_code == 400 and 'id="reason-error"' in short.text and 'value="look"' in short.text
    assert in_doubt.phone not in support.open(doubts).text
    assert actions(console).count("person.sees_texts") == recorded
    assert "The reason is recorded." in support.submit("/operator/access/", reason=REASON, follow=True).text
    shown = support.open(doubts).text
    assert in_doubt.phone in shown and "You see full phone numbers and texts" in shown
    assert actions(console).count("person.sees_texts") == recorded + 1
    assert REASON in support.open("/operator/changes/?action=person.sees_texts").text
    assert "masked again" in support.submit("/operator/access/end", follow=True).text
    assert in_doubt.phone not in support.open(doubts).text


class Lost(NamedTuple):
    """A message that a customer asks about."""

    message_id: str
    send_id: str
    phone: str
    text: str


@pytest.fixture
def lost(console: Console) -> Lost:
    """One of the service's account."""
    phone, content = "99901000017", f"Your table is ready, Ann {console.service.account_id}"
    sent = console.service.send(phone, content, reference="order A-1042").json
    console.service.deliver_receipts()
    return Lost(sent["message_id"], sent["send_id"], phone, content)


def test_support_finds_a_message_and_sees_it_whole_with_a_reason(console: Console, lost: Lost) -> None:
    support, account = console.operator("support"), console.service.account_id
    search = f"/operator/messages/?account_id={account}&phone=%2B{lost.phone}&reference=order+A-1042"
    found = support.open(search)
    assert found.status_code == 200 and f"/operator/messages/{lost.message_id}" in found.text
    path = f"/operator/messages/{lost.message_id}"
    hidden = support.open(path).text
    assert "What happened" in hidden and "Not delivered" in hidden and "order A-1042" in hidden
    assert lost.phone not in hidden and lost.text not in hidden and "(text hidden)" in hidden
    (link,) = re.findall(r'href="(/operator/access/[^"]+)"', hidden)
    support.open(link)
    (back,) = re.findall(r'name="next" value="([^"]*)"', support.open(link).text)
    given = support.submit("/operator/access/", reason=REASON, next=back)
    assert given.headers["Location"] == path + "?" or given.headers["Location"] == path
    shown = support.open(path).text
    assert lost.phone in shown and lost.text in shown
    assert "person.sees_texts" in actions(console) and lost.phone in support.open(search).text
    support.submit("/operator/access/end")
    assert lost.text not in support.open(path).text


def test_an_operator_who_is_also_in_an_account_finds_messages_by_phone(console: Console, lost: Lost) -> None:
    browser = console.operator("support")
    both = a_person(console.service, console.service.account_id, operator_role="support")
    browser.sign_in_by_link(console.link(both))
    assert f"/operator/messages/{lost.message_id}" in browser.open(f"/operator/messages/?phone=%2B{lost.phone}").text


@pytest.mark.parametrize("next", ["https://example.com/", "//example.com/", "/nothing", "/\\example.com"])
def test_a_reason_leads_to_no_other_site(console: Console, next: str) -> None:
    given = console.operator("support").submit("/operator/access/", reason=REASON, next=next)
    assert given.headers["Location"] == "/operator/messages/"


def test_a_reason_lasts_an_hour(console: Console, in_doubt: InDoubt, monkeypatch: pytest.MonkeyPatch) -> None:
    support, doubts = console.operator("support"), f"/operator/doubts/?send_id={in_doubt.send_id}"
    support.submit("/operator/access/", reason=REASON)
    assert in_doubt.phone in support.open(doubts).text
    later = time.time() + REASON_SECONDS + 1
    monkeypatch.setattr("console.session.operator.time", SimpleNamespace(time=lambda: later))
    assert in_doubt.phone not in support.open(doubts).text


def test_a_reason_counts_only_for_the_session_that_gave_it(console: Console, in_doubt: InDoubt) -> None:
    browser, doubts = console.operator("support"), f"/operator/doubts/?send_id={in_doubt.send_id}"
    browser.submit("/operator/access/", reason=REASON)
    assert in_doubt.phone in browser.open(doubts).text
    browser.sign_in_by_link(console.link(a_person(console.service, None, operator_role="support")))
    assert in_doubt.phone not in browser.open(doubts).text


def test_doubts_are_resolved_by_hand(console: Console, in_doubt: InDoubt) -> None:
    admin, doubts, chosen = console.operator(), f"/operator/doubts/?send_id={in_doubt.send_id}", in_doubt.message_id
    page = admin.open(doubts).text
    assert re.findall(r'name="message_ids" value="([^"]+)"', page) == [chosen]
    assert "Choose at least one message." in admin.submit("/operator/doubts/resolve", follow=True).text
    asked = admin.submit("/operator/doubts/resolve", message_ids=chosen)
    assert asked.status_code == 200 and "Resolve 1 message" in asked.text
    wrong = admin.submit("/operator/doubts/resolve", message_ids=chosen, asked="yes")
    assert wrong.status_code == 400 and "Choose an outcome." in wrong.text
    fields = {"message_ids": chosen, "asked": "yes", "outcome": "delivered", "key": f"once-{chosen}"}
    for _ in range(2):
        assert "1 message is resolved." in admin.submit("/operator/doubts/resolve", follow=True, **fields).text
    assert "Nothing is in doubt" in admin.open(doubts).text
    assert console.service.get(f"/messages/{chosen}").json["status"] == "delivered"
    over = admin.submit("/operator/doubts/resolve", message_ids=chosen, asked="yes", outcome="sent")
    assert over.status_code == 400 and "None of these messages is in doubt." in over.text


def test_a_report_that_is_too_large_is_refused(console: Console, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doubts_view, "MOST_BYTES", 20)
    admin = console.operator()
    for octets, refused in ((20, False), (21, True)):
        file = (io.BytesIO(b"phone,status\n".ljust(octets, b"1")), "report.csv")
        page = admin.submit("/operator/doubts/report", carrier="simulator", file=file).text
        assert ("This is too large." in page) is refused


def test_doubts_are_resolved_by_a_report_after_a_look_at_it(console: Console, in_doubt: InDoubt) -> None:
    admin, doubts = console.operator(), f"/operator/doubts/?send_id={in_doubt.send_id}"
    (name,) = re.findall(r'data-label="Carrier">([^<]+)<', admin.open(doubts).text)
    report = f"phone,status\n{in_doubt.phone},delivered\n254799999999,delivered\n".encode()
    for file in (b"", b"phone,status\n\xff\n", b"nothing\n"):
        wrong = admin.submit("/operator/doubts/report", carrier=name, file=(io.BytesIO(file), "report.csv"))
        assert wrong.status_code == 400 and "There is a problem" in wrong.text and f'value="{name}"' in wrong.text
    looked = admin.submit("/operator/doubts/report", carrier=name, file=(io.BytesIO(report), "report.csv"))
    assert looked.status_code == 200 and "What it would resolve" in looked.text
    assert "In doubt afterwards" in looked.text and "Still in doubt" not in looked.text
    assert in_doubt.phone in admin.open(doubts).text
    fields = {"carrier": name, "report": report.decode(), "apply": "yes", "key": f"report-{in_doubt.send_id}"}
    for _ in range(2):
        used = admin.submit("/operator/doubts/report", **fields).text
        assert "<dt>Resolved</dt><dd>1</dd>" in used and "Still in doubt" in used
    assert "Nothing is in doubt" in admin.open(doubts).text


def test_a_held_guard_is_released_with_a_reason(console: Console) -> None:
    admin = console.operator()
    assert "/guard/release" not in admin.open("/operator/health/").text
    console.service.execute("UPDATE installation SET held_since = now(), held_reason = 'it was restored'")
    page = admin.open("/operator/health/").text
    assert "All sends are held" in page and "it was restored" in page and "/guard/release" in page
    assert admin.submit("/operator/health/guard/release", reason="").status_code == 400
    done = admin.submit("/operator/health/guard/release", reason="the old one is off", follow=True)
    assert "Sending has resumed." in done.text
    assert "All sends are held" not in admin.open("/operator/health/").text


def test_stored_text_of_an_account_is_never_run_as_code(console: Console, carrier: str, in_doubt: InDoubt) -> None:
    report_carrier(console.service.engine, "<b>main")
    admin, service, account = console.operator(), console.service, console.service.account_id
    sender = pending(console)
    service.execute("UPDATE account SET name = :evil || id", evil=SCRIPT)
    service.execute("UPDATE sender_id SET use_case = :evil, reason = :evil", evil=SCRIPT)
    service.execute("UPDATE api_key SET name = :evil", evil=SCRIPT)
    admin.open(of_the_account(console, "/top-up"))
    response = admin.submit(of_the_account(console, "/top-up"), credits="5", reason=SCRIPT)
    assert SCRIPT not in response.text
    admin.submit(of_the_account(console, "/top-up"), credits="5", reason=SCRIPT, confirmed="yes")
    for path in (
        *operators_pages(console),
        f"/operator/accounts/{account}",
        f"/operator/accounts/{account}/suspend",
        f"/operator/sender-ids/{sender}/reject",
        "/operator/sender-ids/?status=all",
        f"/operator/accounts/?search={SCRIPT}",
    ):
        shown = admin.open(path).text
        assert SCRIPT not in shown and "<b>main" not in shown, path
    assert "&lt;script&gt;" in admin.open(f"/operator/accounts/{account}").text
