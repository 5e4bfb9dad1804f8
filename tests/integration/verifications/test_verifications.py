"""One-time passwords: what is sent, what is approved, and what is refused."""

import re
from typing import Any

import pytest
from sqlalchemy import text
from werkzeug.test import TestResponse

from api.idempotency import fingerprint
from api.limits.pumping_guard import PumpingGuard
from shared.accounts.change_account import change_account
from shared.accounts.limits import set_limits
from shared.db.delete_rows import delete_where
from tests.harness.service import Service
from worker.jobs.erasure import erase_one
from worker.jobs.housekeeping import PURGES
from worker.jobs.retention import forget

TEXT = text("SELECT message FROM send WHERE id = :send")
LATER = text(
    """
    UPDATE verification SET sent_at = sent_at - make_interval(secs => :seconds),
                            expires_at = expires_at - make_interval(secs => :seconds)
     WHERE account_id = :account AND phone = :phone
    """
)
COUNTS = text(
    """
    SELECT (SELECT count(*) FROM send WHERE account_id = :account), (SELECT sum(sends) FROM verification
             WHERE account_id = :account), (SELECT reserved FROM account WHERE id = :account)
    """
)


@pytest.fixture
def phone(request: pytest.FixtureRequest) -> str:
    """A phone that no other test uses."""
    return f"2547{abs(hash(request.node.nodeid)) % 10**8:08}"


def start(service: Service, phone: str, **more: Any) -> TestResponse:
    return service.post("/verifications", sender_id="ACME", phone=phone, **more)


def text_of(service: Service, started: Any) -> str:
    return str(service.scalar(TEXT, send=started["send_id"]))


def code_in(service: Service, started: Any) -> str:
    return str(re.findall(r"\b\d{4,8}\b", text_of(service, started))[0])


def check(service: Service, started: Any, code: str, **more: Any) -> Any:
    response = service.post(f"/verifications/{started['verification_id']}/check", code=code, **more)
    assert response.status_code == 200, response.text
    return response.json["status"], response.json["checks_left"]


def wrong(code: str) -> str:
    return f"{(int(code) + 1) % 10 ** len(code):0{len(code)}}"


def pass_seconds(service: Service, phone: str, seconds: int) -> None:
    service.execute(LATER, seconds=seconds, account=service.account_id, phone=int(phone))


def configure(service: Service, **settings: Any) -> None:
    service.transact(change_account, service.account_id, {"verification": settings or None})


def test_it_works(service: Service, phone: str) -> None:
    started = start(service, phone).json
    assert (started["status"], started["phone"], started["sends"], started["cost"]) == ("pending", phone, 1, 1)
    assert started["checks_left"] == 5
    code = code_in(service, started)
    assert text_of(service, started) == f"{code} is your acme-0 code. Do not share it."
    assert len(code) == 6
    sent = service.get(f"/sends/{started['send_id']}").json
    assert (sent["category"], sent["expires_at"][:15]) == ("authentication", started["expires_at"][:15])
    assert check(service, started, wrong(code)) == ("pending", 4)
    assert check(service, started, f" {code[:3]}-{code[3:]} ") == ("approved", 4)
    shown = service.get(f"/verifications/{started['verification_id']}").json
    assert (shown["status"], shown["approved_at"] is not None) == ("approved", True)
    assert service.get(f"/verifications?phone={phone}").json == {"data": [shown], "next_cursor": None}


def test_the_right_code_is_approved_again_and_a_wrong_one_is_not(service: Service, phone: str) -> None:
    started = start(service, phone).json
    code = code_in(service, started)
    assert [check(service, started, code)[0] for _ in range(7)] == ["approved"] * 7
    assert check(service, started, wrong(code)) == ("pending", 4)
    assert check(service, started, code) == ("approved", 4)
    pass_seconds(service, phone, 600)
    assert check(service, started, code) == ("expired", 0)


def test_a_code_may_be_entered_in_any_script(service: Service, phone: str) -> None:
    started = start(service, phone).json
    code = code_in(service, started)
    arabic = "".join(chr(ord("\N{ARABIC-INDIC DIGIT ZERO}") + int(digit)) for digit in code)
    assert check(service, started, f"\N{RIGHT-TO-LEFT MARK}{arabic}") == ("approved", 5)


def test_five_wrong_codes_end_it(service: Service, phone: str) -> None:
    started = start(service, phone).json
    code = code_in(service, started)
    results = [check(service, started, given) for given in (wrong(code), "", *["no"] * 3) if given]
    assert results == [("pending", 4), ("pending", 3), ("pending", 2), ("pending", 1)]
    assert check(service, started, "été\u200b") == ("exhausted", 0)
    assert check(service, started, code) == ("exhausted", 0)
    refused = start(service, phone)
    assert (refused.status_code, refused.json["code"]) == (429, "verification_limit")
    assert 500 < int(refused.headers["Retry-After"]) <= 601


def test_the_same_code_is_sent_again_with_growing_pauses(service: Service, phone: str) -> None:
    started = start(service, phone).json
    code = code_in(service, started)
    for sends, pause in ((2, 30), (3, 60), (4, 120), (5, 240)):
        early = start(service, phone)
        assert (early.status_code, early.json["verification_id"]) == (429, started["verification_id"])
        assert pause - 10 < int(early.headers["Retry-After"]) <= pause + 1
        pass_seconds(service, phone, pause)
        again = start(service, phone).json
        assert (again["verification_id"], again["sends"]) == (started["verification_id"], sends)
        assert code_in(service, again) == code
        assert again["send_id"] != started["send_id"]
    assert again["resend_at"] == again["expires_at"]
    pass_seconds(service, phone, 480)
    assert start(service, phone).json["code"] == "verification_limit"
    assert check(service, started, code) == ("approved", 5)


def test_one_that_is_over_is_replaced(service: Service, phone: str) -> None:
    first = start(service, phone).json
    code = code_in(service, first)
    pass_seconds(service, phone, 600)
    assert check(service, first, code) == ("expired", 0)
    second = start(service, phone).json
    assert second["verification_id"] != first["verification_id"]
    assert check(service, first, code) == ("replaced", 0)
    assert check(service, second, code_in(service, second)) == ("approved", 5)
    assert start(service, phone).json["sends"] == 1


def test_each_purpose_has_its_own(service: Service, phone: str) -> None:
    first, second = start(service, phone).json, start(service, phone, purpose="pay").json
    assert first["verification_id"] != second["verification_id"]
    assert start(service, phone, purpose="pay").status_code == 429


def test_texts_and_last_lines(service: Service, phone: str) -> None:
    started = start(service, phone, language="de", web_otp_domain="shop.example").json
    code = code_in(service, started)
    assert text_of(service, started).endswith(f"weiter.\n\n@shop.example #{code}")
    retriever = start(service, phone, purpose="app", sms_retriever_hash="FA+9qCX9VSu").json
    shown = text_of(service, retriever)
    assert shown.startswith("<#> ")
    assert shown.endswith(" code. Do not share it.\nFA+9qCX9VSu")


def test_the_account_has_settings_of_its_own(service: Service, phone: str) -> None:
    configure(service, code_digits=8, max_checks=1, pause_seconds=0, max_sends=2, texts={"xx": "{{code}}!"})
    started = start(service, phone, language="xx").json
    code = code_in(service, started)
    assert (text_of(service, started), len(code)) == (f"{code}!", 8)
    assert start(service, phone, language="xx").json["sends"] == 2
    assert start(service, phone).status_code == 429
    assert check(service, started, wrong(code)) == ("exhausted", 0)
    configure(service)
    assert start(service, phone, purpose="other", language="xx").json["errors"][0]["pointer"] == "/language"


def test_what_a_send_is_refused_for_leaves_nothing(service: Service, phone: str) -> None:
    def counts() -> Any:
        return service.row(COUNTS, account=service.account_id)

    before = counts()
    refused = [
        service.post("/verifications", sender_id="OTHER", phone=phone),
        start(service, "0711"),
        start(service, phone, language="zz"),
        start(service, phone, purpose="a b"),
        start(service, phone, web_otp_domain="shop.example", sms_retriever_hash="FA+9qCX9VSu"),
    ]
    assert [each.json["code"] for each in refused] == ["sender_not_registered", *["validation_failed"] * 4]
    service.post("/suppressions", phones=[phone])
    assert start(service, phone).json["code"] == "recipient_suppressed"
    poor = Service.__new__(Service)
    poor.__dict__ = {**service.__dict__, "account_id": service.new_account("poor", 0)}
    poor.token = poor.new_token(poor.account_id)
    assert start(poor, phone).json["code"] == "low_balance"
    assert poor.get("/verifications").json["data"] == []
    assert counts() == before


def test_a_code_is_valid_although_there_was_no_money_to_send_it_again(service: Service, phone: str) -> None:
    account = service.new_account("poor", 1)
    token = service.new_token(account)
    started = start(service, phone, token=token).json
    code = code_in(service, started)
    service.execute(LATER, seconds=30, account=account, phone=int(phone))
    assert start(service, phone, token=token).json["code"] == "low_balance"
    shown = service.get(f"/verifications/{started['verification_id']}", token=token).json
    assert (shown["sends"], shown["status"]) == (1, "pending")
    assert check(service, started, code, token=token) == ("approved", 5)


def test_a_repeated_request_sends_once(service: Service, phone: str) -> None:
    first, again = (start(service, phone, headers={"Idempotency-Key": phone}) for _ in range(2))
    assert again.headers["Idempotency-Replayed"] == "true"
    assert again.json == first.json
    code = code_in(service, first.json)
    results = [check(service, first.json, wrong(code), headers={"Idempotency-Key": "c"}) for _ in range(2)]
    assert results == [("pending", 4)] * 2
    other = service.post(
        f"/verifications/{first.json['verification_id']}/check", code=code, headers={"Idempotency-Key": "c"}
    )
    assert other.json["code"] == "idempotency_key_reused"
    assert check(service, first.json, code, headers={"Idempotency-Key": "d"}) == ("approved", 4)
    stored = service.scalar("SELECT fingerprint FROM idempotency WHERE key = 'd'")
    assert bytes(stored) != fingerprint({"code": code})


def test_the_code_is_stored_and_shown_nowhere(service: Service, phone: str) -> None:
    started = start(service, phone).json
    code = code_in(service, started)
    row = service.row("SELECT * FROM verification WHERE phone = :phone", phone=int(phone))
    assert code not in str(row)
    message, send = f"/messages/{started['message_id']}", f"/sends/{started['send_id']}"
    told = [service.get(path).text for path in (message, send, "/sends", f"/verifications?phone={phone}")]
    assert [code in each for each in told] == [False] * 4
    assert service.get(message).json["text"].startswith("****** is your")
    sandbox = service.in_sandbox()
    played = start(sandbox, phone).json
    assert code_in(sandbox, played) in sandbox.get(f"/messages/{played['message_id']}").json["text"]


def test_an_approval_is_an_event_once(service: Service, phone: str) -> None:
    service.get("/events")
    started = start(service, phone).json
    code = code_in(service, started)
    for given in (wrong(code), code, code):
        check(service, started, given)
    events = service.get("/events?types=verification.approved").json["data"]
    assert [each["data"] for each in events] == [{"verification_id": started["verification_id"], "purpose": "sign_in"}]


def test_rates_by_country_and_prefix(service: Service) -> None:
    other = service.new_account("rates")
    token = service.new_token(other)
    phones = ["254733000001", "254733000002", "4915112345678"]
    made = [service.post("/verifications", token=token, sender_id="ACME", phone=each).json for each in phones]
    check(service, made[0], code_in(service, made[0]), token=token)
    by_country = service.get("/verifications/rates", token=token).json["data"]
    assert [(each["group"], each["started"], each["approved"]) for each in by_country] == [("KE", 2, 1), ("DE", 1, 0)]
    by_prefix = service.get("/verifications/rates?by=prefix", token=token).json["data"]
    assert [each["group"] for each in by_prefix] == ["254733", "4915112"]


def test_accounts_do_not_share_a_verification(service: Service, phone: str) -> None:
    token = service.new_token(service.new_account("stranger"))
    own, others = start(service, phone), start(service, phone, token=token)
    assert (own.status_code, others.status_code) == (200, 200)
    assert own.json["verification_id"] != others.json["verification_id"]


def test_erasure_and_age_delete_it(service: Service, phone: str) -> None:
    left = text("SELECT count(*) FROM verification WHERE account_id = :account AND phone = :phone")
    subject = {"account": service.account_id, "phone": int(phone)}

    def count() -> int:
        return int(service.scalar(left, **subject))

    headers = {"Idempotency-Key": "erased"}
    start(service, phone, headers=headers)
    service.deliver_receipts()
    service.post("/erasures", phone=phone)
    service.execute("UPDATE erasure SET due_at = now()")
    while erase_one(service.engine):
        pass
    assert count() == 0
    stored = service.scalar("SELECT response FROM idempotency WHERE key = 'erased'")
    assert phone not in stored
    start(service, phone, purpose="old")
    pass_seconds(service, phone, 30 * 86_400)
    delete_where(service.engine, *next(each for each in PURGES if each[0].name == "verification"))
    assert count() == 1
    pass_seconds(service, phone, 600)
    delete_where(service.engine, *next(each for each in PURGES if each[0].name == "verification"))
    assert count() == 0
    start(service, phone, purpose="retained")
    pass_seconds(service, phone, 5 * 86_400)
    forget(service.engine, 6)
    assert count() == 1
    forget(service.engine, 4)
    assert count() == 0


def test_codes_that_nobody_enters_are_suspected(service: Service) -> None:
    account = service.new_account("pumped")
    token = service.new_token(account)
    service.transact(set_limits, account, pumping="block")
    service.reload_limits()
    for number in range(20):
        assert start(service, f"254740{number * 4_999:06}", token=token).status_code == 200
    service.execute("UPDATE verification SET expires_at = now() WHERE account_id = :id", id=account)
    service.flask.extensions["bulksms"].pumping = PumpingGuard()
    refused = start(service, "254740099999", token=token).json
    assert (refused["code"], refused["rule"], refused["prefix"]) == ("traffic_refused", "unused", "254740")
    assert (refused["phones"], refused["most"], refused["window_seconds"]) == (20, 18, 3600)
