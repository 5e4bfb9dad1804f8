"""Sessions: listed, ended, each seen by nobody else, and the end of their tokens."""

import pytest
from sqlalchemy import text

from api.auth.revocations import Revocations, read_revocations
from api.limits.rate_limits import PERSON_REQUESTS_PER_SECOND, SESSION_REQUESTS_PER_SECOND
from shared.people.persons import disable_person, enable_person, set_operator_role
from shared.people.sessions import MAX_SESSIONS, Origin, begin_session
from shared.people.sign_in_links import make_link
from tests.harness.people import PASSWORD, Person, a_person, open_call, sign_in
from tests.harness.service import PREFIX, Service

NEW_PASSWORD = "an even longer password"


def ended(ann: Person, session: str | None = None) -> bool:
    response = ann.get("/me", session)
    return response.status_code == 401 and response.json["code"] == "session_ended"


def test_it_works(service: Service) -> None:
    ann = a_person(service)
    response = service.client.post(
        f"{PREFIX}/sign-in",
        json={"email": ann.email, "password": PASSWORD},
        headers={"User-Agent": "Browser/1.0 " + "x" * 300},
        environ_overrides={"REMOTE_ADDR": "198.51.100.9"},
    )
    listed = ann.get("/me/sessions").json["data"]
    assert [each["current"] for each in listed] == [False, True]
    assert listed[0]["session_id"] == response.json["session_id"]
    assert listed[0]["address"] == "198.51.100.9"
    assert listed[0]["user_agent"].startswith("Browser/1.0") and len(listed[0]["user_agent"]) == 200
    assert ann.call("DELETE", f"/me/sessions/{response.json['session_id']}").json["ended"] is True
    assert ended(ann, response.json["session_token"])
    assert not ended(ann)
    assert ann.post("/me/sign-out").json == {"session_id": str(ann.session_id), "ended": True}
    assert ended(ann)


def test_another_persons_session_looks_like_an_unknown_one(service: Service) -> None:
    ann, stranger = a_person(service, service.account_id), a_person(service, service.account_id, "owner")
    foreign = stranger.call("DELETE", f"/me/sessions/{ann.session_id}")
    nobodys = stranger.call("DELETE", "/me/sessions/01900000-0000-7000-8000-000000000000")
    assert foreign.status_code == nobodys.status_code == 404
    assert foreign.json["detail"] == nobodys.json["detail"]
    assert not ended(ann)
    assert str(ann.session_id) not in stranger.get("/me/sessions").text


def test_a_session_lasts_a_month_at_most(service: Service) -> None:
    ann = a_person(service)
    lasts = text("SELECT expires_at - created_at = interval '30 days' FROM person_session WHERE id = :id")
    assert service.scalar(lasts, id=ann.session_id)


@pytest.mark.parametrize(
    "change",
    ["last_used_at = now() - interval '12 hours 1 second'", "expires_at = now() - interval '1 second'"],
)
def test_a_session_ends_by_itself(service: Service, change: str) -> None:
    ann = a_person(service)
    service.execute(f"UPDATE person_session SET {change} WHERE id = :id", id=ann.session_id)
    assert ended(ann)


def test_the_oldest_of_too_many_sessions_ends(service: Service) -> None:
    ann = a_person(service)
    for _ in range(MAX_SESSIONS):
        service.transact(begin_session, ann.id, Origin("", "", ""))
    assert ended(ann)


def test_a_new_password_ends_the_other_sessions(service: Service) -> None:
    ann = a_person(service, service.account_id)
    other = sign_in(service, ann.email).json["session_token"]
    link = service.transact(make_link, ann.id)
    token = ann.call("POST", "/me/token", other, account_id=service.account_id, test=False).json["access_token"]
    assert ann.post("/me/password", password="a wrong password", new_password=NEW_PASSWORD).status_code == 401
    assert ann.post("/me/password", new_password=NEW_PASSWORD).status_code == 400
    assert ann.post("/me/password", password=PASSWORD, new_password="short").status_code == 400
    assert not ended(ann, other)
    assert ann.post("/me/password", password=PASSWORD, new_password=NEW_PASSWORD).json == {"changed": True}
    assert ended(ann, other) and not ended(ann)
    assert service.get("/balance", token=token).json["code"] == "token_revoked"
    assert open_call(service, "/sign-in/link", token=link).status_code == 401
    assert sign_in(service, ann.email).status_code == 401
    assert sign_in(service, ann.email, NEW_PASSWORD).status_code == 200


def test_after_a_link_the_password_may_be_set_for_a_while(service: Service) -> None:
    ann = a_person(service)
    token = service.transact(make_link, ann.id)
    session = open_call(service, "/sign-in/link", token=token).json["session_token"]
    later = text("UPDATE person_session SET created_at = created_at - CAST(:by AS interval) WHERE by_link")
    service.execute(later, by="16 minutes")
    assert ann.call("POST", "/me/password", session, new_password=NEW_PASSWORD).status_code == 400
    # As if the clock had been set back since.
    service.execute(later, by="-2 hours")
    assert ann.call("POST", "/me/password", session, new_password=NEW_PASSWORD).status_code == 400
    service.execute(later, by="110 minutes")
    assert ann.call("POST", "/me/password", session, new_password=NEW_PASSWORD).status_code == 200
    assert sign_in(service, ann.email, NEW_PASSWORD).status_code == 200


def test_an_ended_session_is_known_for_as_long_as_a_host_may_take_its_tokens(service: Service) -> None:
    """A token is valid for ten minutes by the clock of the host, which may be set back."""
    ann = a_person(service)
    assert ann.post("/me/sign-out").status_code == 200
    earlier = text("UPDATE person_session SET ended_at = ended_at - interval '1 hour' WHERE id = :session")
    service.execute(earlier, session=ann.session_id)
    assert str(ann.session_id) in read_revocations(service.engine, Revocations()).sessions


def test_disabling_a_person_ends_their_sessions_and_tokens(service: Service) -> None:
    ann = a_person(service, service.account_id)
    token = ann.token(service.account_id)
    service.transact(disable_person, ann.email)
    service.reload_limits()
    assert ended(ann)
    assert service.get("/balance", token=token).json["code"] == "token_revoked"
    assert sign_in(service, ann.email).status_code == 401
    service.transact(enable_person, ann.email)
    assert ended(ann)
    assert sign_in(service, ann.email).status_code == 200


def test_another_operator_role_ends_the_sessions(service: Service) -> None:
    ann = a_person(service, operator_role="support")
    ann = ann._replace(session=sign_in(service, ann.email).json["session_token"])
    service.transact(set_operator_role, ann.id, None)
    assert ended(ann)


def test_a_person_changes_their_name_language_and_time_zone(service: Service) -> None:
    ann = a_person(service)
    response = ann.call("PATCH", "/me", name="Ann O.", locale="pt-BR", time_zone="Africa/Nairobi")
    changed = {name: response.json["person"][name] for name in ("name", "locale", "time_zone")}
    assert changed == {"name": "Ann O.", "locale": "pt-BR", "time_zone": "Africa/Nairobi"}
    assert ann.get("/me").json == response.json
    for wrong in (
        {},
        {"name": " "},
        {"name": "a\nb"},
        {"locale": "english"},
        {"time_zone": "../../etc/passwd"},
        {"time_zone": "Nowhere"},
        {"time_zone": "Factory"},
        {"time_zone": "localtime"},
        {"email": "x@example.com"},
        {"operator_role": "admin"},
    ):
        assert ann.call("PATCH", "/me", **wrong).status_code == 400


@pytest.mark.usefixtures("no_refill")
def test_a_session_has_a_rate_limit_of_its_own(service: Service) -> None:
    ann, bob = a_person(service), a_person(service)
    responses = [ann.get("/me") for _ in range(SESSION_REQUESTS_PER_SECOND * 5)]
    refused = [each for each in responses if each.status_code == 429]
    assert refused and responses[0].status_code == 200
    assert {each.json["code"] for each in refused} == {"rate_limited"}
    assert int(refused[0].headers["Retry-After"]) >= 1
    assert refused[0].headers["RateLimit-Policy"] == f'"requests";q={SESSION_REQUESTS_PER_SECOND};w=1'
    elsewhere = another_session(service, ann)
    assert ann.get("/me", elsewhere).status_code == bob.get("/me").status_code == 200


@pytest.mark.usefixtures("no_refill")
def test_the_sessions_of_a_person_share_a_rate_limit(service: Service) -> None:
    ann = a_person(service)
    sessions = [another_session(service, ann) for _ in range(10)]
    refused = [
        response
        for _ in range(SESSION_REQUESTS_PER_SECOND)
        for response in [ann.get("/me", session) for session in sessions]
        if response.status_code == 429
    ]
    policies = {each.headers["RateLimit-Policy"] for each in refused}
    assert f'"requests";q={PERSON_REQUESTS_PER_SECOND};w=1' in policies


def another_session(service: Service, ann: Person) -> str:
    return service.transact(begin_session, ann.id, Origin("203.0.113.1", "203.0.113.1", "tests")).token
