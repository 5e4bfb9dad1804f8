"""Limits that an operator sets: requests, spending, destinations, and the guard against pumping."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import Connection, bindparam, event, func, select, text
from sqlalchemy.exc import ObjectNotExecutableError
from werkzeug.test import TestResponse

from shared.accounts import limits
from shared.accounts.administration import Refused, lock_account
from shared.accounts.limits import set_limits
from shared.audit.check import audit
from shared.db.tables.money import ledger
from shared.ids import LAST_NUMBER
from shared.ledger import spend_limits
from shared.ledger.spend_limits import PeriodSpend, change_spend_limit
from tests.harness.service import Service
from tests.harness.times import leave_end_of

pytestmark = pytest.mark.usefixtures("nothing_is_remembered")

KENYA, TANZANIA, UGANDA = "254711000000", "255711000000", "256711000000"


@pytest.fixture(autouse=True)
def one_day() -> None:
    """What is spent is counted by days."""
    leave_end_of("day")


def limit(service: Service, **changes: Any) -> None:
    service.transact(set_limits, service.account_id, **changes)
    service.reload_limits()


def problem(response: TestResponse, status: int, code: str) -> dict[str, Any]:
    made = response.get_json(force=True)
    assert (response.status_code, made["code"]) == (status, code), made
    return dict(made)


def clean(service: Service) -> bool:
    return audit(service.engine, full=True) == []


def test_it_works(service: Service) -> None:
    limit(service, requests_per_second=100, spend_day=10, spend_month=200, destinations=("254", "255"), pumping="watch")
    assert service.send().status_code == 200
    shown = service.get("/limits").json
    assert shown["requests_per_second"] == 100
    assert shown["spending"] == {"day": 10, "month": 200, "spent_of_day": 1, "spent_of_month": 1}
    assert (shown["destinations"], shown["pumping_guard"]) == (["254", "255"], "watch")


@pytest.mark.usefixtures("no_refill")
def test_an_account_has_a_rate_of_its_own(service: Service) -> None:
    limit(service, requests_per_second=2)
    responses = [service.get("/balance") for _ in range(8)]
    refused = next(response for response in responses if response.status_code == 429)
    assert refused.headers["RateLimit-Policy"] == '"requests";q=2;w=1'
    limit(service, requests_per_second=None)
    assert all(service.get("/balance").status_code in (200, 429) for _ in range(3))
    assert service.get("/limits").headers["RateLimit-Policy"] == '"requests";q=10000;w=1'


def test_sends_above_the_daily_spend_limit_are_refused(service: Service) -> None:
    limit(service, spend_day=3)
    assert service.bulk([KENYA, TANZANIA]).status_code == 200
    refused = problem(service.bulk([KENYA, TANZANIA]), 402, "spend_limit_reached")
    assert (refused["required"], refused["period"], refused["spend_limit"], refused["spent"]) == (2, "day", 3, 2)
    assert datetime.fromisoformat(refused["resets_at"]).timetz().isoformat() == "00:00:00+00:00"
    assert service.send().status_code == 200
    problem(service.send(), 402, "spend_limit_reached")
    assert service.get("/balance").json["balance"] == 997
    limit(service, spend_day=4)
    assert service.send().status_code == 200
    assert clean(service)


def test_only_a_period_that_had_no_limit_is_counted_in_the_ledger(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That takes long."""
    limit(service, spend_day=5)
    assert service.bulk([KENYA, TANZANIA]).status_code == 200
    monkeypatch.setattr(spend_limits, "COUNT_LEDGER", None)
    other = service.new_account("other")
    service.execute("INSERT INTO spending VALUES (:account, 'day', '2020-01-01', 1, 9)", account=other)
    limit(service, spend_day=1)
    with service.engine.connect() as connection:
        most = text("SELECT most FROM spending WHERE account_id = :account")
        assert connection.execute(most, {"account": other}).scalar_one() == 9, "another account keeps its own"
        connection.execute(text("DELETE FROM spending WHERE account_id = :account"), {"account": other})
        connection.commit()
    assert problem(service.send(), 402, "spend_limit_reached")["spent"] == 2
    limit(service, spend_day=3)
    assert service.send().status_code == 200
    assert problem(service.send(), 402, "spend_limit_reached")["spend_limit"] == 3
    with pytest.raises(ObjectNotExecutableError):
        limit(service, spend_month=5)
    assert clean(service)


def test_the_monthly_spend_limit_counts_the_whole_month(service: Service) -> None:
    limit(service, spend_month=10)
    service.execute(
        "UPDATE spending SET credits = 9 WHERE account_id = :account AND period = 'month'", account=service.account_id
    )
    service.execute(
        "INSERT INTO spending VALUES (:account, 'month', '2020-01-01', 500, 500)", account=service.account_id
    )
    assert service.send().status_code == 200
    assert problem(service.send(), 402, "spend_limit_reached")["period"] == "month"
    limit(service, spend_month=None)
    assert clean(service)


def test_what_a_group_turns_out_not_to_cost_can_be_spent_again(service: Service) -> None:
    service.set_prices(("", "254", 1), ("", "25470", 10), name="groups", account=service.account_id)
    limit(service, spend_day=20, spend_month=100)
    for _ in range(2):
        response = service.post("/sms/send-group", sender_id="ACME", group_id=service.new_group([KENYA]), message="Hi")
        assert response.json["cost"] == 10
        service.sweep()
    assert service.get("/limits").json["spending"] == {"day": 20, "month": 100, "spent_of_day": 2, "spent_of_month": 2}
    limit(service, spend_day=None)
    limit(service, spend_day=20)
    assert service.get("/limits").json["spending"]["spent_of_day"] == 2
    assert clean(service)


def test_when_a_period_ends() -> None:
    def ends(period: Any, begins: date) -> str:
        return PeriodSpend(period, begins, 1, 1).ends.isoformat()

    assert ends("day", date(2026, 12, 31)) == ends("month", date(2026, 12, 1)) == "2027-01-01T00:00:00+00:00"
    assert ends("day", date(2028, 2, 28)) == "2028-02-29T00:00:00+00:00"
    assert ends("month", date(2028, 2, 1)) == "2028-03-01T00:00:00+00:00"


def test_sends_at_once_never_go_beyond_the_limit(service: Service) -> None:
    limit(service, spend_day=15)
    with ThreadPoolExecutor(25) as pool:
        responses = list(pool.map(lambda number: service.send(str(254711000000 + number)), range(50)))
    assert sorted(response.status_code for response in responses) == [200] * 15 + [402] * 35
    assert service.get("/limits").json["spending"]["spent_of_day"] == 15
    assert clean(service)


def test_what_was_spent_before_the_limit_counts(service: Service) -> None:
    for _ in range(4):
        service.send()
    limit(service, spend_day=5)
    assert service.get("/limits").json["spending"]["spent_of_day"] == 4
    assert service.send().status_code == 200
    problem(service.send(), 402, "spend_limit_reached")
    limit(service, spend_day=None)
    assert service.send().status_code == 200
    for most in (6, 5, 1):
        limit(service, spend_day=most)
        assert problem(service.send(), 402, "spend_limit_reached")["spent"] == 6
    limit(service, spend_day=7)
    assert service.send().status_code == 200
    assert clean(service)


def test_what_is_spent_while_it_is_counted_counts_once(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only that is counted while the account's sends wait."""
    sandbox, spans = service.in_sandbox(), list[tuple[int, int]]()
    service.send(), sandbox.send(KENYA), sandbox.send(KENYA)

    def lock_after_a_send(connection: Connection, account: int) -> Any:
        assert service.send().status_code == sandbox.send(KENYA).status_code == 200
        return lock_account(connection, account)

    def see(conn: Connection, clause: Any, values: Any, params: dict[str, Any], options: Any) -> None:
        if clause is spend_limits.COUNT_LEDGER:
            spans.append((params["after"], params["to"]))

    last = select(func.max(ledger.c.id)).where(ledger.c.account_id == bindparam("account"))
    monkeypatch.setattr(spend_limits, "NOT_IN_FLIGHT", last)
    monkeypatch.setattr(limits, "lock_account", lock_after_a_send)
    event.listen(service.engine, "before_execute", see)
    limit(service, spend_day=20, spend_month=30)
    event.remove(service.engine, "before_execute", see)
    assert service.get("/limits").json["spending"] == {"day": 20, "month": 30, "spent_of_day": 2, "spent_of_month": 2}
    assert sandbox.get("/limits").json["spending"]["spent_of_day"] == 3
    first, rest = spans[:4], spans[4:]
    assert sorted(to for _, to in first) == sorted(after for after, _ in rest)
    assert {to for _, to in rest} == {LAST_NUMBER}
    assert clean(service)


def test_what_was_counted_of_the_day_before_is_not_spent_today(service: Service) -> None:
    service.send()
    yesterday = datetime.now(UTC).date() - timedelta(days=1)
    service.transact(change_spend_limit, service.account_id, "day", None, 5, (0, yesterday, 7))
    assert service.get("/limits").json["spending"]["spent_of_day"] == 1


def test_entries_that_an_earlier_statement_has_counted_are_not_read(service: Service) -> None:
    other, mine = service.new_account("other"), service.account_id
    service.send()
    last = service.scalars("SELECT max(id) FROM ledger WHERE account_id = :account", account=mine)[0]
    service.send()
    past, tomorrow = datetime(2020, 1, 1, tzinfo=UTC), datetime.now(UTC) + timedelta(days=1)
    for account, to, entry in ((other, past, LAST_NUMBER), (mine, past, last), (mine, tomorrow, LAST_NUMBER)):
        made = "INSERT INTO statement VALUES (:account, :month, 0, '[]', :to, :entry)"
        service.execute(made, account=account, month=to.date(), to=to, entry=entry)
    limit(service, spend_day=5)
    assert service.get("/limits").json["spending"]["spent_of_day"] == 1
    service.execute("DELETE FROM statement")
    limit(service, spend_day=None)
    assert clean(service)


def test_a_change_of_a_limit_forgets_nothing_of_another_account(service: Service) -> None:
    other = service.new_account("other")
    service.transact(set_limits, other, spend_day=5)
    service.reload_limits()
    token = service.new_token(other)
    body = {"sender_id": "ACME", "phone": KENYA, "message": "Hi"}
    assert service.post("/sms/send", token=token, **body).status_code == 200
    limit(service, spend_day=9)
    limit(service, spend_day=None)
    assert service.get("/limits", token=token).json["spending"]["spent_of_day"] == 1


def test_a_repeated_request_spends_once(service: Service) -> None:
    limit(service, spend_day=1)
    first, again = (service.send(headers={"Idempotency-Key": "one"}) for _ in range(2))
    assert first.data == again.data
    problem(service.send(headers={"Idempotency-Key": "two"}), 402, "spend_limit_reached")
    limit(service, spend_day=2)
    assert service.send(headers={"Idempotency-Key": "two"}).status_code == 200


def test_the_limits_of_a_sandbox_are_those_of_its_account_and_counted_apart(service: Service) -> None:
    limit(service, spend_day=1)
    sandbox = service.in_sandbox()
    assert sandbox.send(KENYA).status_code == 200
    problem(sandbox.send(KENYA), 402, "spend_limit_reached")
    assert service.send().status_code == 200
    limit(service, spend_day=2)
    assert sandbox.send(KENYA).status_code == 200


def test_the_audit_notices_a_count_that_is_wrong(service: Service) -> None:
    limit(service, spend_day=5)
    service.send()
    service.execute("UPDATE spending SET credits = 4 WHERE account_id = :account", account=service.account_id)
    assert {breach.rule for breach in audit(service.engine, full=True)} == {"spending"}
    limit(service, spend_day=None)
    assert clean(service)


def test_one_phone_must_be_in_an_allowed_destination(service: Service) -> None:
    limit(service, destinations=("254", "2557"))
    assert service.send(KENYA).status_code == service.send(TANZANIA).status_code == 200
    for phone in (UGANDA, "255811000000", "441632960000"):
        problem(service.send(phone), 403, "destination_not_allowed")
        problem(service.post("/sms/quote", sender_id="ACME", phone=phone, message="Hi"), 403, "destination_not_allowed")
    assert service.get("/balance").json["balance"] == 998
    limit(service, destinations=None)
    assert service.send(UGANDA).status_code == 200


def test_phones_of_a_list_in_other_destinations_are_dropped_and_reported(service: Service) -> None:
    limit(service, destinations=("254",))
    response = service.bulk([UGANDA, KENYA, "0711", KENYA, TANZANIA]).json
    assert [(entry["index"], entry["code"]) for entry in response["rejected"]] == [
        (0, "destination_not_allowed"),
        (2, "invalid_phone"),
        (3, "duplicate"),
        (4, "destination_not_allowed"),
    ]
    assert response["counts"] == {"submitted": 5, "accepted": 1, "duplicate": 1, "invalid": 1, "suppressed": 2}
    assert response["cost"] == 1
    problem(service.bulk([UGANDA, TANZANIA]), 400, "no_valid_recipients")
    strict = problem(service.bulk([KENYA, UGANDA], strict=True), 400, "validation_failed")
    assert [(error["pointer"], error["code"]) for error in strict["errors"]] == [
        ("/phones/1", "destination_not_allowed")
    ]
    assert clean(service)


def test_contacts_of_a_group_in_other_destinations_are_dropped_and_not_charged(service: Service) -> None:
    elsewhere = "256722000000"
    group = service.new_group([KENYA, elsewhere, TANZANIA, "254711000001"])
    limit(service, destinations=("254",))
    send = service.post("/sms/send-group", sender_id="ACME", group_id=group, message="Hi").json
    service.sweep()
    service.deliver_receipts()
    counts = service.counts(send["send_id"])
    assert (counts["accepted"], counts["suppressed"], counts["delivered"]) == (2, 2, 2)
    assert elsewhere not in service.submitted()
    assert service.get("/balance").json["balance"] == 998
    assert clean(service)


OTP = {"category": "authentication", "message": "Your code is 123456"}


def test_one_time_passwords_to_consecutive_phones_are_refused(service: Service) -> None:
    limit(service, pumping="block")
    responses = [service.send(str(99312000000 + number), **OTP) for number in range(30)]
    assert [response.status_code for response in responses] == [200] * 10 + [403] * 20
    refused = problem(responses[-1], 403, "traffic_refused")
    assert (refused["rule"], refused["prefix"], refused["most"], refused["window_seconds"]) == (
        "block",
        "99312000",
        10,
        600,
    )
    assert service.get("/balance").json["balance"] == 990
    assert service.send("99512000000", **OTP).status_code == 200
    assert service.send("99312000029").status_code == 200, "only one-time passwords are looked at"


def test_watch_mode_refuses_nothing_and_records_one_finding(service: Service) -> None:
    limit(service, pumping="watch")
    for number in range(15):
        assert service.send(str(99312000000 + number), **OTP).status_code == 200
    rows = service.execute(
        "SELECT rule, prefix, phones, most, refused FROM pumping_finding WHERE account_id = :account",
        account=service.account_id,
    )
    assert [tuple(row) for row in rows] == [("block", "99312000", 11, 10, False)]


def test_lists_are_checked_too_but_quotes_and_test_keys_are_not(service: Service) -> None:
    limit(service, pumping="block")
    phones = [str(99312000000 + number) for number in range(30)]
    token = service.new_token(service.account_id, test=True)
    body = {"sender_id": "ACME", "phones": phones, **OTP}
    assert service.post("/sms/quote", **body).status_code == 200
    assert service.post("/sms/send-bulk", token=token, **body).status_code == 200
    problem(service.post("/sms/send-bulk", **body), 403, "traffic_refused")
    assert service.get("/balance").json["balance"] == 1000


@pytest.mark.parametrize("changes", [{"spend_day": 0}, {"spend_month": -1}, {"requests_per_second": 2**31}])
def test_an_invalid_limit_is_refused(service: Service, changes: dict[str, int]) -> None:
    with pytest.raises(Refused), service.engine.begin() as connection:
        set_limits(connection, service.account_id, **changes)
    service.reload_limits()
