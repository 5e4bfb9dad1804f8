"""Requests to Kannel's API: answered as Kannel's smsbox answers them, and sent as other requests are."""

import logging
import random
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode

import psycopg
import pytest
from sqlalchemy import Engine
from sqlalchemy.exc import OperationalError

from api.kannel import sendsms
from api.server import application
from api.server.application import Owners
from api.server.request_log import RequestLog
from shared.observability.logs import JsonLines
from tests.harness.kannel import LOGIN, NUMBERS, REQUESTS, SEND, Asked, recorded
from tests.harness.on_the_loop import scope
from tests.harness.service import Service
from tests.integration.kannel.conftest import KannelUser

ACCEPTED = (202, "0: Accepted for delivery")
NOT_AUTHORIZED = (403, "Authorization failed for sendsms")
PART = "%05%00%03%01%02%01"


def part(query: str) -> str:
    return f"{LOGIN}&from=ACME&{query}"


MISFORMED_TEXT = "Charset or body misformed, rejected"
TOO_LONG_PART = "A part has at most 140 octets with its header, or 160 septets."
NO_TEXT = "text: The text has no visible character; write a message."
UNSUPPORTED = "flash messages, message classes and indicators are not supported"
TO = "to=254711000000"
OWN_ANSWERS = {
    part("to=12&text=Hi"): "to: The phone number has 2 digits and needs at least 8; include the country code.",
    part("to=0&text=Hi"): "to: The phone number starts with 0; start with the country code.",
    part(
        f"to={'9' * 30}&text=Hi"
    ): "to: The phone number has 30 digits and may have at most 15; send one number per entry.",
    f"{LOGIN}&{TO}&text=Hi&from=%00": "Sender missing and no global set, rejected",
    part(f"{TO}&"): NO_TEXT,
    part(f"{TO}&text="): NO_TEXT,
    part(f"{TO}&text=caf%E9&charset=UTF-8"): MISFORMED_TEXT,
    part(f"{TO}&text=caf%E9"): MISFORMED_TEXT,
    part(f"{TO}&text=%04%16%00&coding=2"): MISFORMED_TEXT,
    part(f"{TO}&text={'x' * 141}&coding=1"): TOO_LONG_PART,
    part(f"{TO}&text=Hi&udh=%8B{'%00' * 139}"): TOO_LONG_PART,
    part(
        f"{TO}&text={'x' * 1601}"
    ): "text: The text has 1,601 characters; shorten it to 1,600 or send it as several messages.",
    **{f"{SEND}&mclass={value}": f"mclass: {UNSUPPORTED}" for value in ("0", "3")},
    **{f"{SEND}&mwi={value}": f"mwi: {UNSUPPORTED}" for value in ("0", "1", "7", "%2B1x")},
    f"{SEND}&validity=0": "validity: `expires_at` must be in the future.",
    f"{SEND}&validity=5&deferred=10": "validity: The message would expire before it is due. Use an `expires_at` after"
    " `send_at`.",
    f"{SEND}&dlr-url=http%3A%2F%2Fexample.com%2F&dlr-mask=1": "dlr-url: Begin with https://.",
    f"{SEND}&dlr-url=https%3A%2F%2F10.0.0.1%2F&dlr-mask=1": "dlr-url: The address is not a public one.",
}
"""Requests that smsbox accepts and that are refused here: docs/guides/from-kannel.md says why."""


@pytest.fixture
def service(engine: Engine) -> Service:
    """A new account, without limits for a phone number."""
    return Service(engine, recipient_limits=(0, 0, 0), webhook_loopback=False)


def newest(service: Service) -> dict[str, Any]:
    """The message that was accepted last."""
    listed = service.get("/messages").json["data"]
    shown: dict[str, Any] = service.get(f"/messages/{listed[0]['message_id']}").json
    return shown


def test_it_works(kannel: KannelUser) -> None:
    answer = kannel.get(text="Hi {{name}} @home", account="order 7")
    assert (answer.status_code, answer.text) == ACCEPTED
    message = newest(kannel.service)
    assert (message["phone"], message["text"], message["reference"]) == ("254711000000", "Hi {{name}} @home", "order 7")
    assert kannel.service.get("/balance").json["balance"] == 999


def test_smsbox_and_ours_answer_alike(kannel: KannelUser) -> None:
    theirs = recorded()
    assert len(theirs) > 200
    own = {name: (400, text) for name, text in OWN_ANSWERS.items()}
    assert {name: theirs[name] for name in own} == dict.fromkeys(own, ACCEPTED)
    forms = [asked for asked in REQUESTS if any("form-urlencoded" in value for _, value in asked.headers)]
    own |= {asked.name: ACCEPTED for asked in [*forms, REQUESTS[-1]]}  # a form, and a login in the query of a POST
    own[f"{SEND}&udh=050003010201"] = ACCEPTED
    own |= {name: (400, "Missing receiver number, rejected") for name, (_, text) in theirs.items() if "(s) n" in text}
    answers = {asked.name: kannel.ask(asked) for asked in REQUESTS}
    found = {name: (answer.status_code, answer.text) for name, answer in answers.items()}
    assert found == {name: tuple(answer) for name, answer in theirs.items()} | own


@pytest.mark.parametrize(
    ("query", "shown", "encoding"),
    [
        ("text=caf%E9&charset=ISO-8859-1", "café", "gsm7"),
        ("text=%D0%96", "Ж", "ucs2"),
        ("text=%04%16&coding=2", "Ж", "ucs2"),
        ("text=%D0%96&coding=2&charset=utf8", "Ж", "ucs2"),
        ("text=Hi&coding=2&charset=UTF-8", "Hi", "gsm7"),
    ],
)
def test_the_text_is_read(kannel: KannelUser, query: str, shown: str, encoding: str) -> None:
    assert kannel.ask(Asked(f"{LOGIN}&from=ACME&{TO}&{query}")).status_code == 202
    message = newest(kannel.service)
    assert (message["text"], message["encoding"]) == (shown, encoding)


@pytest.mark.parametrize(
    ("query", "octets", "coding"),
    [
        (f"text=Hi&udh={PART}", "0500030102014869", 4),
        ("text=Hi&udh=050003010201", "0500030102014869", 4),
        (f"text=Hi&coding=0&udh={PART}", "0500030102014869", 0),
        (f"text=%04%16&coding=2&udh={PART}", "0500030102010416", 8),
        ("text=%01%FF&coding=1", "01ff", 4),
    ],
)
def test_a_part_goes_on_as_it_came_to_each_receiver(kannel: KannelUser, query: str, octets: str, coding: int) -> None:
    asked = Asked(f"{LOGIN}&from=ACME&to=254711000000+254711000001&{query}")
    assert kannel.ask(asked).status_code == 202
    [stored] = kannel.service.scalars(
        "SELECT smpp -> 'part' FROM send WHERE account_id = :account", account=kannel.service.account_id
    )
    assert (stored["octets"], stored["coding"]) == (octets, coding)
    assert kannel.service.get("/balance").json["balance"] == 998


def test_several_receivers_are_a_list_without_the_wrong_ones(kannel: KannelUser) -> None:
    answer = kannel.get(to="+254711000000 254711000001 12 254711000001 abc")
    assert (answer.status_code, answer.text) == ACCEPTED
    [listed] = kannel.service.get("/sends").json["data"]
    assert kannel.service.get(f"/sends/{listed['send_id']}").json["counts"]["accepted"] == 2


def test_times_and_category(kannel: KannelUser) -> None:
    assert kannel.get(deferred="60", validity="120", priority="1", category="marketing").status_code == 202
    [listed] = kannel.service.get("/sends").json["data"]
    send = kannel.service.get(f"/sends/{listed['send_id']}").json
    due, ends, made = (datetime.fromisoformat(send[name]) for name in ("send_at", "expires_at", "created_at"))
    assert send["category"] == "marketing"
    assert abs(due - made - timedelta(hours=1)) < timedelta(minutes=1) > abs(ends - due - timedelta(hours=1))


def test_what_is_refused_costs_nothing_and_says_why(kannel: KannelUser) -> None:
    service = kannel.service
    service.post("/suppressions", phones=["254711000009"])
    refused = {
        "Your account has no sender ID 'OTHER'.": kannel.get(from_="OTHER"),
        "The recipient has opted out of messages from your account.": kannel.get(to="254711000009"),
    }
    assert {reason: (answer.status_code, answer.text) for reason, answer in refused.items()} == {
        reason: (400, reason) for reason in refused
    }
    service.set_prices(("", "254", 3), account=service.account_id)
    assert kannel.get(to="491711000000").status_code == 400
    assert service.get("/balance").json["balance"] == 1000


def test_a_low_balance_is_402(kannel: KannelUser) -> None:
    kannel.login = kannel.credential(kannel.service.new_account("poor", credits=1), system_id="poor")
    answer = kannel.get(text="x" * 400)
    assert (answer.status_code, answer.text) == (402, "This send needs 3 credits; 1 is left.")


def test_who_may_not_send_is_not_authorized(kannel: KannelUser) -> None:
    service, right = kannel.service, kannel.login
    kannel.login = kannel.credential(system_id="elsewhere", networks=["192.0.2.0/24"])
    assert (kannel.get().status_code, kannel.get().text) == NOT_AUTHORIZED
    kannel.login = right
    assert kannel.get().status_code == 202
    kannel.revoke(right)
    assert kannel.get().status_code == 403
    kannel.login = kannel.credential(system_id="suspended")
    service.execute("UPDATE account SET state = 'suspended' WHERE id = :id", id=service.account_id)
    assert kannel.get().status_code == 403


def test_guessing_and_too_many_requests_are_a_temporary_failure(kannel: KannelUser, no_refill: None) -> None:
    limited = kannel.credential(system_id="limited", rate=2)
    for _ in range(10):
        assert kannel.get(password="wrong").status_code == 403
    answer = kannel.get(password="wrong")
    assert (answer.status_code, answer.text) == (503, "Temporal failure, try again later.")
    assert "Retry-After" in answer.headers
    kannel.login = limited
    assert [kannel.get().status_code for _ in range(3)] == [202, 202, 503]


def test_a_known_login_has_the_share_of_its_account(kannel: KannelUser) -> None:
    logins = kannel.service.flask.extensions["bulksms"].known_logins
    login = (kannel.login.system_id, kannel.login.password)
    owners = Owners(kannel.service.flask.extensions["bulksms"])
    query = urlencode({"username": login[0], "password": login[1]})
    environ = {"PATH_INFO": "/cgi-bin/sendsms", "QUERY_STRING": query, "REMOTE_ADDR": "192.0.2.7"}
    assert owners(environ) == "192.0.2.7"
    kannel.get()
    assert owners(environ) == kannel.service.account_id
    assert owners({**environ, "QUERY_STRING": query + "x"}) == "192.0.2.7"
    kannel.revoke(kannel.login)
    kannel.get()
    assert logins.account_of(*login) is None


def test_a_commit_that_may_have_taken_effect_is_no_temporary_failure(
    kannel: KannelUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lose(*_: object) -> None:
        raise OperationalError(None, None, psycopg.OperationalError("lost"), connection_invalidated=True)

    monkeypatch.setattr(sendsms, "accept", lose)
    answer = kannel.get()
    assert (answer.status_code, answer.text) == (504, "Unknown: it may have been accepted.")


def test_too_many_requests_under_way_are_a_temporary_failure(
    kannel: KannelUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(application, "MAX_PER_ADDRESS", 0)
    answer = kannel.get()
    assert (answer.status_code, answer.text) == (503, "Temporal failure, try again later.")


def test_odd_values_are_no_fault_of_ours(kannel: KannelUser, caplog: pytest.LogCaptureFixture) -> None:
    rng, names = random.Random(7), ["from", "to", "text", "charset", "udh", "account", "dlr-url", "username", *NUMBERS]
    odd = [
        "%00",
        "%ED%A0%80",
        "%FF%FE",
        "%F0%9F%98%80",
        "-0",
        "9" * 40,
        "utf-7",
        "idna",
        "punycode",
        "%%",
        "%2",
        "+",
        "%0A",
    ]
    odd += ["https%3A%2F%2F%5B", "https%3A%2F%2Fexample.com%3A99999%2F", "%7B%7Ba%7D%7D", "x" * 300, "%D8%3D", "%1B"]
    queries = [SEND.replace("text=Hi", f"{rng.choice(names)}={rng.choice(odd)}&text=Hi") for _ in range(150)]
    queries += [f"{LOGIN}&{name}={value}&from=ACME&{TO}&text=Hi&dlr-mask=1" for name in names[:7] for value in odd]
    answers = {query: kannel.ask(Asked(query)).status_code for query in queries}
    assert set(answers.values()) <= {202, 400, 403}, [each for each in answers if answers[each] not in (202, 400, 403)]
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]


def test_no_log_line_has_the_query(caplog: pytest.LogCaptureFixture) -> None:
    log, request = RequestLog(), scope("/cgi-bin/sendsms")
    request["query_string"] = urlencode({"username": "box", "password": "in-the-query"}).encode()
    log.add(request, 403, [], 0.1, 10)
    with caplog.at_level(logging.INFO, "api.requests"):
        log.flush()
    lines = [JsonLines().format(record) for record in caplog.records]
    assert any("/cgi-bin/sendsms" in line for line in lines) and not any("in-the-query" in line for line in lines)
