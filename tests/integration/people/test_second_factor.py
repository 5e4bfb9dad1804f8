"""TOTP and recovery codes: each is good once, and SECRET_KEY may change."""

import threading
import time
from typing import Any

import pytest
from sqlalchemy import text
from werkzeug.test import TestResponse

from shared.people.second_factor import code_at, totp_texts, use_code
from tests.harness.database import wait_until_somebody_waits
from tests.harness.people import PASSWORD, Person, a_person, sign_in
from tests.harness.service import SECRET_KEY, Service
from tests.harness.threads import join_all


def enable(ann: Person, step: int | None = None) -> tuple[str, list[str]]:
    """Switch TOTP on, by the code of a step or else of an earlier one. Returns the secret and the recovery codes."""
    secret = ann.post("/me/totp", password=PASSWORD).json["secret"]
    response = ann.post("/me/totp/confirm", code=code_at(secret, now() if step is None else step))
    assert response.status_code == 200, response.text
    if step is None:  # an earlier code could be too old by the time that the request is handled
        ann.service.execute("UPDATE person SET totp_step = totp_step - 1 WHERE id = :id", id=ann.id)
    return secret, response.json["recovery_codes"]


def now() -> int:
    return int(time.time() // 30)


def refused(response: TestResponse) -> Any:
    assert response.status_code == 401
    return response.json["code"]


def stored(service: Service, ann: Person) -> Any:
    return service.row("SELECT * FROM person WHERE id = :id", id=ann.id)


def test_a_code_is_good_once(service: Service) -> None:
    ann = a_person(service)
    secret, _ = enable(ann)
    step = now()
    code = code_at(secret, step)
    responses: list[int] = []
    threads = [
        threading.Thread(
            target=lambda n=n: responses.append(
                sign_in(service, ann.email, address=f"192.0.2.{n}", code=code).status_code
            )
        )
        for n in range(3)
    ]
    for thread in threads:
        thread.start()
    join_all(*threads)
    assert sorted(responses) == [200, 401, 401]
    assert refused(sign_in(service, ann.email, code=code_at(secret, step - 1))) == "invalid_code"


@pytest.mark.parametrize("kind", ["TOTP", "recovery"])
def test_only_one_of_two_transactions_uses_the_code(service: Service, kind: str) -> None:
    """Both have read the person before either has used it."""
    ann = a_person(service)
    secret, codes = enable(ann)
    code = code_at(secret, now()) if kind == "TOTP" else codes[0]
    row, texts, second = stored(service, ann), totp_texts(SECRET_KEY), list[bool]()

    def use_too() -> None:
        second.append(service.transact(use_code, row, texts, code))

    other = threading.Thread(target=use_too)
    with service.engine.begin() as connection:
        assert use_code(connection, row, texts, code)
        other.start()
        wait_until_somebody_waits(service.engine)
        assert second == []
    join_all(other)
    assert second == [False]


def test_the_code_that_confirmed_is_used_up(service: Service) -> None:
    ann = a_person(service)
    step = now()
    secret, _ = enable(ann, step)
    assert refused(sign_in(service, ann.email, code=code_at(secret, step))) == "invalid_code"


def test_a_recovery_code_is_good_once(service: Service) -> None:
    ann = a_person(service)
    _, codes = enable(ann)
    assert sign_in(service, ann.email, code=codes[0].upper().replace("-", " ")).status_code == 200
    assert refused(sign_in(service, ann.email, code=codes[0])) == "invalid_code"
    assert sign_in(service, ann.email, code=codes[1]).status_code == 200
    other = a_person(service)
    enable(other)
    assert refused(sign_in(service, other.email, code=codes[2])) == "invalid_code"


def test_neither_secret_nor_codes_are_readable_in_the_database(service: Service) -> None:
    ann = a_person(service)
    pending = ann.post("/me/totp", password=PASSWORD).json["secret"]
    assert pending not in str(stored(service, ann))
    secret, codes = enable(ann)
    assert secret not in str(stored(service, ann))
    with service.engine.connect() as connection:
        rows = connection.execute(text("SELECT code_hash FROM recovery_code WHERE person_id = :id"), {"id": ann.id})
        hashes = [bytes(row.code_hash) for row in rows]
    assert len(hashes) == 10 and all(code.encode() not in each for code in codes for each in hashes)


def test_enabling_needs_the_password(service: Service) -> None:
    """Whoever has stolen a session cannot lock the person out with an app of their own."""
    ann = a_person(service)
    assert ann.post("/me/totp").status_code == 400
    wrong = ann.post("/me/totp", password="a wrong password")
    assert refused(wrong) == "invalid_credentials" and "secret" not in wrong.json
    assert stored(service, ann).totp_pending is None


def test_without_a_password_there_is_no_second_factor(service: Service) -> None:
    ann = a_person(service)
    service.execute("UPDATE person SET password_hash = NULL WHERE id = :id", id=ann.id)
    response = ann.post("/me/totp", password=PASSWORD)
    assert (response.status_code, response.json["code"]) == (409, "state_conflict")
    assert "Set a password first" in response.json["detail"]


def test_disabling_needs_the_password(service: Service) -> None:
    ann = a_person(service)
    _, codes = enable(ann)
    assert ann.post("/me/totp", password=PASSWORD).status_code == 409
    assert refused(ann.post("/me/totp/disable", password="a wrong password")) == "invalid_credentials"
    assert ann.post("/me/totp/disable", password=PASSWORD).json == {"totp": False}
    assert sign_in(service, ann.email).status_code == 200
    _, new_codes = enable(ann)
    assert refused(sign_in(service, ann.email, code=codes[0])) == "invalid_code"
    assert sign_in(service, ann.email, code=new_codes[0]).status_code == 200


@pytest.mark.usefixtures("no_refill")
def test_guesses_at_the_password_of_a_stolen_session_are_limited(service: Service) -> None:
    ann = a_person(service)
    paths = ["/me/totp/disable", "/me/totp"] * 6
    statuses = [ann.post(path, password="a wrong password").status_code for path in paths]
    assert statuses[:10] == [401] * 10 and statuses[-1] == 429
    assert ann.post("/me/password", password=PASSWORD, new_password="an even longer password").status_code == 429


@pytest.mark.parametrize("code", ["000000", "abcdef", "1"])
def test_a_wrong_code_does_not_switch_totp_on(service: Service, code: str) -> None:
    ann = a_person(service)
    assert ann.post("/me/totp/confirm", code=code).status_code == 409
    ann.post("/me/totp", password=PASSWORD)
    assert refused(ann.post("/me/totp/confirm", code=code)) == "invalid_code"
    assert ann.get("/me").json["person"]["totp"] is False
    assert sign_in(service, ann.email).status_code == 200
