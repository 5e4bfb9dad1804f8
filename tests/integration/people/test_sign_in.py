"""Signing in by password and by link: what it needs, what it gives, and that nobody can guess."""

import threading
from collections.abc import Callable
from typing import Any

import fakeredis
import pytest
from argon2 import PasswordHasher
from sqlalchemy import text

from api.limits.password_attempts import OF_ADDRESS, OF_EMAIL
from api.limits.shared_token_buckets import SharedRateLimit
from api.problems import Problem
from api.resources.sign_in.checks import lock_checked
from shared.people import passwords
from shared.people.persons import change_password, create_person, disable_person, find_person
from shared.people.sign_in_links import make_link
from tests.harness.people import PASSWORD, a_person, open_call, sign_in
from tests.harness.service import Service
from tests.harness.threads import join_all

THERE = "203.0.113.77"
WRONG = "not the right password"


def test_only_the_hash_of_a_session_is_stored(service: Service) -> None:
    token = sign_in(service, a_person(service).email).json["session_token"]
    stored = service.scalar("SELECT string_agg(s::text, '') FROM person_session s")
    assert token not in stored and token.encode().hex() not in stored


def test_an_unknown_person_is_refused_like_a_wrong_password(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the same words and after the same work, also for whoever is disabled or has no password."""
    ann, gone = a_person(service), a_person(service)
    service.transact(disable_person, gone.email)
    service.transact(create_person, "no-password@example.com", "Nobody")
    work = list[str]()
    monkeypatch.setattr(
        passwords, "HASHER", Counted(passwords.HASHER, lambda stored: work.append(stored.rpartition("$")[0][:30]))
    )
    responses = []
    for email, password in (
        (ann.email, WRONG),
        ("nobody@example.com", WRONG),
        (gone.email, PASSWORD),
        ("no-password@example.com", WRONG),
        ("no address", WRONG),
    ):
        response = sign_in(service, email, password)
        responses.append((response.status_code, {**response.get_json(force=True), "request_id": None}))
    assert responses[0][0] == 401 and responses[0][1]["code"] == "invalid_credentials"
    assert responses == [responses[0]] * 5
    assert len(work) == 5 and len(set(work)) == 1


class Counted:
    """A hasher whose work is counted."""

    def __init__(self, hasher: Any, on_verify: Callable[[str], None]) -> None:
        self._hasher, self._on_verify = hasher, on_verify

    def __getattr__(self, name: str) -> Any:
        return getattr(self._hasher, name)

    def verify(self, stored: str, password: str) -> bool:
        """Verify, and count."""
        self._on_verify(stored)
        return bool(self._hasher.verify(stored, password))


def test_only_an_address_that_guesses_is_stopped(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bucket must not refill meanwhile: it gets its capacity over a long time."""
    addresses = service.flask.extensions["bulksms"].password_attempts.addresses
    monkeypatch.setattr(addresses, "burst", OF_ADDRESS * 1e6)
    monkeypatch.setattr(addresses, "rate", 1e-6)
    ann = a_person(service)
    statuses = [sign_in(service, f"guess-{n}@example.com", WRONG).status_code for n in range(OF_ADDRESS + 5)]
    assert statuses[:OF_ADDRESS] == [401] * OF_ADDRESS and statuses[-1] == 429
    refused = sign_in(service, ann.email)
    assert refused.status_code == 429 and int(refused.headers["Retry-After"]) >= 1
    for path, body in (
        ("/sign-in/link", {"token": "smsl_x"}),
        ("/invitations/preview", {"token": "smsv_x"}),
        ("/invitations/accept", {"token": "smsv_x", "password": PASSWORD}),
    ):
        assert open_call(service, path, **body).status_code == 429
    assert sign_in(service, ann.email, address=THERE).status_code == 200


@pytest.mark.usefixtures("no_refill")
def test_a_person_under_attack_can_sign_in_from_an_address_used_before(service: Service) -> None:
    ann = a_person(service)
    assert sign_in(service, ann.email, address=THERE).status_code == 200
    statuses = [sign_in(service, ann.email, WRONG, f"192.0.2.{n}").status_code for n in range(OF_EMAIL + 5)]
    assert statuses[:OF_EMAIL] == [401] * OF_EMAIL and statuses[-1] == 429
    assert sign_in(service, ann.email, address="192.0.2.200").status_code == 429
    assert sign_in(service, ann.email, address=THERE).status_code == 200


@pytest.mark.usefixtures("no_refill")
def test_an_unknown_email_is_limited_like_a_known_one(service: Service) -> None:
    statuses = [
        sign_in(service, "nobody-2@example.com", WRONG, f"192.0.2.{n}").status_code for n in range(OF_EMAIL + 1)
    ]
    assert statuses == [401] * OF_EMAIL + [429]


@pytest.mark.usefixtures("no_refill")
def test_failures_are_counted_by_all_processes_together(service: Service) -> None:
    """Two processes with one Redis: what one has counted, the other knows. Redis holds no e-mail address."""
    ann = a_person(service)
    redis = fakeredis.FakeRedis()
    attempts = []
    for _ in range(2):
        service.serve(service.settings)
        work = service.flask.extensions["bulksms"]
        attempts.append(work.password_attempts)
        if len(attempts) == 1:
            first = SharedRateLimit(redis, {"sign-ins": attempts[0].addresses, "emails": attempts[0].emails})
            for n in range(OF_EMAIL):
                sign_in(service, ann.email, WRONG, f"192.0.2.{n}")
            first.count()
    second = SharedRateLimit(redis, {"sign-ins": attempts[1].addresses, "emails": attempts[1].emails})
    assert sign_in(service, ann.email, WRONG, "192.0.2.99").status_code == 401
    second.count()
    assert sign_in(service, ann.email, address="192.0.2.98").status_code == 429
    assert all(b"example" not in key for key in redis.keys("*"))


def test_a_password_with_old_parameters_is_hashed_anew(service: Service) -> None:
    ann = a_person(service)
    old = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1).hash(PASSWORD)
    service.execute("UPDATE person SET password_hash = :old WHERE id = :id", old=old, id=ann.id)
    assert sign_in(service, ann.email).status_code == 200
    stored = service.scalar("SELECT password_hash FROM person WHERE id = :id", id=ann.id)
    assert "m=19456,t=2,p=1" in stored
    assert sign_in(service, ann.email).status_code == 200


@pytest.mark.parametrize("change", ["password", "disabled"])
def test_a_change_during_the_password_check_prevents_the_sign_in(service: Service, change: str) -> None:
    ann = a_person(service)
    checked = service.transact(find_person, ann.id)
    assert checked is not None
    if change == "password":
        service.transact(change_password, ann.id, passwords.hash_password("another password"), session=None, by=None)
    else:
        service.transact(disable_person, ann.email)
    with service.engine.begin() as connection, pytest.raises(Problem, match="invalid_credentials"):
        lock_checked(connection, checked)


def test_a_link_signs_in_once(service: Service) -> None:
    ann = a_person(service)
    first, token = service.transact(make_link, ann.id), service.transact(make_link, ann.id)
    responses: list[int] = []
    threads = [
        threading.Thread(target=lambda: responses.append(open_call(service, "/sign-in/link", token=token).status_code))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    join_all(*threads)
    assert sorted(responses) == [200, 401, 401, 401]
    assert open_call(service, "/sign-in/link", token=first).json["code"] == "invalid_link"


@pytest.mark.parametrize("spoiled", ["expired", "disabled"])
def test_a_link_that_is_no_longer_valid_is_refused(service: Service, spoiled: str) -> None:
    ann = a_person(service)
    with service.engine.begin() as connection:
        token = make_link(connection, ann.id)
        if spoiled == "expired":
            connection.execute(text("UPDATE sign_in_link SET expires_at = now() - interval '1 second'"))
        else:
            disable_person(connection, ann.email)
    response = open_call(service, "/sign-in/link", token=token)
    assert (response.status_code, response.json["code"]) == (401, "invalid_link")
