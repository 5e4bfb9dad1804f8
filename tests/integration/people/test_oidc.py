"""Signing in through an OpenID Connect provider, over the API."""

import hmac
import json
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from joserfc import jwt
from joserfc.jwk import RSAKey
from sqlalchemy import Engine, text
from werkzeug.test import TestResponse

from shared.people.invitations import invite
from shared.people.persons import disable_person
from shared.people.retention import release_email
from shared.people.sign_in_links import make_link
from tests.harness.oidc_provider import CLIENT_ID, OidcProvider, oidc_provider, signed
from tests.harness.people import PASSWORD, Person, a_person, open_call, sign_in
from tests.harness.service import PREFIX, Service


@pytest.fixture(scope="module")
def running() -> Iterator[OidcProvider]:
    with oidc_provider() as provider:
        yield provider


@pytest.fixture
def provider(running: OidcProvider, patient_with_providers: None) -> OidcProvider:
    """The provider, which has two minutes for each response."""
    running.forge, running.metadata = None, {}
    running.claims_in_userinfo = running.takes_codes_again = False
    return running


@pytest.fixture
def service(engine: Engine, provider: OidcProvider) -> Service:
    return Service(engine, oidc=provider.settings())


def claims_of(email: str, subject: str | None = None, **more: Any) -> dict[str, Any]:
    return {"sub": subject or f"subject of {email}", "email": email, "email_verified": True, **more}


def begun(service: Service) -> dict[str, Any]:
    response = open_call(service, "/sign-in/oidc")
    assert response.status_code == 200, response.text
    return dict(response.json)


def complete(service: Service, attempt: str, returned: dict[str, str], **more: Any) -> TestResponse:
    sent = {"attempt": attempt, "state": returned["state"], "code": returned["code"], **more}
    return open_call(service, "/sign-in/oidc/complete", **sent)


def through(service: Service, provider: OidcProvider, user: dict[str, Any], **more: Any) -> TestResponse:
    """Sign in as whoever is signed in at the provider."""
    provider.user = user
    attempt = begun(service)
    return complete(service, attempt["attempt"], provider.browse(attempt["authorization_url"]), **more)


def code_of(response: TestResponse) -> str:
    return str(response.json.get("code", response.status_code))


def invited(service: Service, email: str, role: str = "sender") -> str:
    return service.transact(invite, email, service.account_id, role).token


def test_without_a_provider_there_is_no_oidc_sign_in(engine: Engine) -> None:
    service = Service(engine)
    assert service.client.get(f"{PREFIX}/sign-in/methods").json == {"password": True, "oidc": None}
    assert code_of(open_call(service, "/sign-in/oidc")) == "not_found"
    assert code_of(complete(service, "a", {"state": "b", "code": "c"})) == "not_found"


def test_signing_in_does_not_create_a_person(service: Service, provider: OidcProvider) -> None:
    assert code_of(through(service, provider, claims_of("nobody@acme.example"))) == "no_person"
    assert service.scalar("SELECT count(*) FROM person WHERE email = 'nobody@acme.example'") == 0


@pytest.mark.parametrize("verified", [False, None, 0, "false", "yes", []])
def test_an_address_that_is_not_verified_finds_nobody(
    service: Service, provider: OidcProvider, verified: object
) -> None:
    person = a_person(service)
    user = claims_of(person.email, email_verified=verified)
    assert code_of(through(service, provider, user)) == "email_not_verified"


@pytest.mark.parametrize("verified", [{"email_verified": "true"}, {"email_verified": None, "xms_edov": "1"}])
def test_every_providers_form_of_email_verified_is_read(
    service: Service, provider: OidcProvider, verified: dict[str, Any]
) -> None:
    assert through(service, provider, claims_of(a_person(service).email, **verified)).status_code == 200


def test_the_address_may_come_from_userinfo(service: Service, provider: OidcProvider) -> None:
    provider.claims_in_userinfo = True
    person = a_person(service)
    assert through(service, provider, claims_of(person.email)).json["person"]["person_id"] == str(person.id)


def test_userinfo_of_somebody_else_is_refused(service: Service, provider: OidcProvider) -> None:
    provider.claims_in_userinfo = True
    provider.forge = lambda claims, key: signed({**claims, "sub": "another"}, key)
    assert code_of(through(service, provider, claims_of(a_person(service).email))) == "oidc_failed"


def test_after_the_first_sign_in_the_subject_identifies_the_person(service: Service, provider: OidcProvider) -> None:
    ann, bob = a_person(service), a_person(service)
    assert through(service, provider, claims_of(ann.email, "ann")).status_code == 200
    elsewhere = through(service, provider, claims_of("new-address@acme.example", "ann", email_verified=False))
    assert elsewhere.json["person"]["person_id"] == str(ann.id)
    as_bob = through(service, provider, claims_of(bob.email, "ann"))
    assert as_bob.json["person"]["person_id"] == str(ann.id), "the new address is Bob's, and Ann is still Ann"


def test_a_later_holder_of_an_address_is_not_taken_for_the_earlier_one(
    service: Service, provider: OidcProvider
) -> None:
    ann = a_person(service)
    assert through(service, provider, claims_of(ann.email, "ann's")).status_code == 200
    assert code_of(through(service, provider, claims_of(ann.email, "a successor's"))) == "identity_conflict"


def test_the_first_sign_in_ends_earlier_sessions_passwords_and_links(service: Service, provider: OidcProvider) -> None:
    """An owner may have accepted an invitation for an address that is not theirs, and wait for whom it belongs to."""
    squatter = a_person(service, service.account_id)
    link = service.transact(make_link, squatter.id)
    assert through(service, provider, claims_of(squatter.email)).status_code == 200
    assert squatter.get("/me").status_code == 401
    assert code_of(sign_in(service, squatter.email, PASSWORD)) == "invalid_credentials"
    assert code_of(open_call(service, "/sign-in/link", token=link)) == "invalid_link"


def test_sessions_and_passwords_set_after_the_first_sign_in_are_kept(service: Service, provider: OidcProvider) -> None:
    person = a_person(service)
    session = through(service, provider, claims_of(person.email)).json["session_token"]
    assert person.post("/me/password", session=session, new_password=PASSWORD).status_code == 200
    assert through(service, provider, claims_of(person.email)).status_code == 200
    assert person.get("/me", session=session).status_code == 200
    assert sign_in(service, person.email, PASSWORD).status_code == 200


@pytest.mark.parametrize("way", ["provider", "link"])
def test_a_first_password_needs_a_fresh_sign_in(service: Service, provider: OidcProvider, way: str) -> None:
    person = a_person(service)
    session = through(service, provider, claims_of(person.email)).json["session_token"]
    if way == "link":
        token = service.transact(make_link, person.id)
        session = open_call(service, "/sign-in/link", token=token).json["session_token"]
    later = text("UPDATE person_session SET created_at = created_at - CAST(:by AS interval) WHERE person_id = :person")
    service.execute(later, by="16 minutes", person=person.id)
    refused = person.post("/me/password", session=session, new_password=PASSWORD)
    assert (refused.status_code, code_of(refused)) == (403, "sign_in_too_old")
    assert code_of(sign_in(service, person.email, PASSWORD)) == "invalid_credentials"
    service.execute(later, by="-10 minutes", person=person.id)
    assert person.post("/me/password", session=session, new_password=PASSWORD).status_code == 200
    assert sign_in(service, person.email, PASSWORD).status_code == 200


def test_a_disabled_person_is_refused(service: Service, provider: OidcProvider) -> None:
    bound, new = a_person(service), a_person(service)
    assert through(service, provider, claims_of(bound.email)).status_code == 200
    service.transact(disable_person, bound.email)
    service.transact(disable_person, new.email)
    for person in (bound, new):
        assert code_of(through(service, provider, claims_of(person.email))) == "no_person"


def test_a_released_address_belongs_to_a_new_person(service: Service, provider: OidcProvider) -> None:
    person = a_person(service)
    user = claims_of(person.email)
    assert through(service, provider, user).status_code == 200
    service.transact(release_email, person.email)
    assert code_of(through(service, provider, user)) == "no_person"
    response = through(service, provider, user, invitation_token=invited(service, person.email))
    assert response.json["person"]["person_id"] != str(person.id)


def test_a_new_person_gets_no_longer_name_than_others(service: Service, provider: OidcProvider) -> None:
    token = invited(service, "long@acme.example")
    response = through(service, provider, claims_of("long@acme.example", name="Ann" * 100), invitation_token=token)
    assert len(response.json["person"]["name"]) == 100


def test_an_invitation_makes_a_new_person(service: Service, provider: OidcProvider) -> None:
    token = invited(service, "new@acme.example")
    response = through(service, provider, claims_of("New@Acme.example", name="Ann\x00 Otieno"), invitation_token=token)
    assert response.status_code == 200, response.text
    shown = response.json["person"]
    assert (shown["email"], shown["name"], shown["has_password"]) == ("new@acme.example", "Ann Otieno", False)
    assert [(each["account_id"], each["role"]) for each in response.json["accounts"]] == [
        (service.account_id, "sender")
    ]
    assert code_of(through(service, provider, claims_of("new@acme.example"), invitation_token=token)) == "invalid_link"


def test_an_invitation_is_accepted_by_a_person_who_is_here(service: Service, provider: OidcProvider) -> None:
    person = a_person(service)
    response = through(service, provider, claims_of(person.email), invitation_token=invited(service, person.email))
    assert response.json["person"]["person_id"] == str(person.id)
    assert [each["role"] for each in response.json["accounts"]] == ["sender"]


@pytest.mark.parametrize("person", ["nobody", "somebody"])
def test_an_invitation_for_another_address_is_refused(service: Service, provider: OidcProvider, person: str) -> None:
    email = a_person(service).email if person == "somebody" else "somebody-else@acme.example"
    token = invited(service, "invited@acme.example")
    assert code_of(through(service, provider, claims_of(email), invitation_token=token)) == "invitation_for_another"
    bound = "SELECT count(*) FROM person_identity WHERE subject = :subject"
    assert service.scalar(bound, subject=f"subject of {email}") == 0
    accepted = through(service, provider, claims_of("invited@acme.example"), invitation_token=token)
    assert accepted.status_code == 200, "it is still open"


def test_an_invitation_is_not_accepted_with_an_unverified_address(service: Service, provider: OidcProvider) -> None:
    token = invited(service, "unverified@acme.example")
    user = claims_of("unverified@acme.example", email_verified=False)
    assert code_of(through(service, provider, user, invitation_token=token)) == "email_not_verified"


def test_the_state_of_another_browser_is_refused(service: Service, provider: OidcProvider) -> None:
    provider.user = claims_of(a_person(service).email)
    mine, others = begun(service), begun(service)
    returned = provider.browse(others["authorization_url"])
    assert code_of(complete(service, mine["attempt"], returned)) == "oidc_failed"
    assert code_of(complete(service, mine["attempt"], {**returned, "state": "é"})) == "oidc_failed"
    assert complete(service, others["attempt"], returned).status_code == 200


def test_the_code_of_another_browser_is_refused(service: Service, provider: OidcProvider) -> None:
    """With a state of one's own: the provider holds the code to the verifier of the attempt that it was given for."""
    provider.user = claims_of(a_person(service).email)
    mine, others = begun(service), begun(service)
    own, stolen = provider.browse(mine["authorization_url"]), provider.browse(others["authorization_url"])
    assert code_of(complete(service, mine["attempt"], {**own, "code": stolen["code"]})) == "oidc_failed"


def test_a_code_is_used_once(service: Service, provider: OidcProvider) -> None:
    provider.user = claims_of(a_person(service).email)
    attempt = begun(service)
    returned = provider.browse(attempt["authorization_url"])
    assert complete(service, attempt["attempt"], returned).status_code == 200
    assert code_of(complete(service, attempt["attempt"], returned)) == "oidc_failed"


@pytest.mark.parametrize("sealed", ["", "x", "é", "gAAAAAB" + "A" * 200])
def test_an_attempt_that_the_service_did_not_begin_is_refused(service: Service, sealed: str) -> None:
    refused = complete(service, sealed, {"state": "x", "code": "x"})
    assert code_of(refused) == ("oidc_failed" if sealed else "validation_failed")


def test_an_attempt_sealed_with_the_previous_secret_key_is_completed(service: Service, provider: OidcProvider) -> None:
    provider.user = claims_of(a_person(service).email)
    attempt = begun(service)
    returned = provider.browse(attempt["authorization_url"])
    settings = service.settings
    service.serve(replace(settings, secret_key="n" * 40, secret_key_fallbacks=(settings.secret_key,)))
    assert complete(service, attempt["attempt"], returned).status_code == 200


def _part(content: bytes) -> str:
    return urlsafe_b64encode(content).decode().rstrip("=")


def _unsigned(claims: dict[str, Any], key: RSAKey) -> str:
    return f"{_part(json.dumps({'alg': 'none'}).encode())}.{_part(json.dumps(claims).encode())}."


def _by_public_key(claims: dict[str, Any], key: RSAKey) -> str:
    """HS256 under the text of the public key, which a client that takes any algorithm verifies."""
    signed_part = (
        _part(json.dumps({"alg": "HS256", "kid": key.kid}).encode()) + "." + _part(json.dumps(claims).encode())
    )
    return f"{signed_part}.{_part(hmac.digest(key.as_pem(private=False), signed_part.encode(), 'sha256'))}"


def _by_another(claims: dict[str, Any], key: RSAKey) -> str:
    header = {"alg": "RS256", "kid": key.kid}
    return jwt.encode(header, claims, RSAKey.generate_key(2048, auto_kid=True))


def _by_own_key(claims: dict[str, Any], key: RSAKey) -> str:
    """Signed by a key that the token itself brings."""
    own = RSAKey.generate_key(2048, auto_kid=True)
    return jwt.encode({"alg": "RS256", "jwk": own.as_dict(private=False)}, claims, own)


def _with(**more: Any) -> Any:
    return lambda claims, key: signed({**claims, **more}, key)


def _without(name: str) -> Any:
    return lambda claims, key: signed({other: value for other, value in claims.items() if other != name}, key)


FORGED = {
    "alg none": _unsigned,
    "a public key as a secret": _by_public_key,
    "another key": _by_another,
    "a key of its own": _by_own_key,
    "expired": _with(iat=1_000_000_000, exp=1_000_000_300),
    "from the future": _with(iat=4_000_000_000, exp=4_000_000_300),
    "never expires": _without("exp"),
    "expires as text": _with(exp="never"),
    "another nonce": _with(nonce="another"),
    "no nonce": _without("nonce"),
    "another client": _with(aud="another"),
    "another client's, also ours": _with(aud=["another", CLIENT_ID], azp="another"),
    "several clients, none authorized": _with(aud=["another", CLIENT_ID]),
    "no audience": _without("aud"),
    "another issuer": _with(iss="https://another.example"),
    "no issuer": _without("iss"),
    "no subject": _without("sub"),
    "an empty subject": _with(sub=""),
    "a subject that is a number": _with(sub=7),
    "a subject with NUL": _with(sub="a\0b"),
    "a long subject": _with(sub="a" * 256),
    "no token": lambda claims, key: "",
    "no three parts": lambda claims, key: "a.b",
    "no object": lambda claims, key: signed(claims, key).replace(".", ".AAAA", 1),
}


@pytest.mark.parametrize("forged", FORGED)
def test_a_wrong_id_token_is_refused(service: Service, provider: OidcProvider, forged: str) -> None:
    provider.forge = FORGED[forged]
    response = through(service, provider, claims_of(a_person(service).email))
    assert code_of(response) == "oidc_failed", response.text


def test_new_keys_of_the_provider_are_learned(service: Service, provider: OidcProvider) -> None:
    user = claims_of(a_person(service).email)
    assert through(service, provider, user).status_code == 200
    provider.rotate()
    assert through(service, provider, user).status_code == 200
    provider.requested_paths.clear()
    assert through(service, provider, user).status_code == 200
    assert provider.requested_paths == ["/authorize", "/token"], "what is known is not asked for again"


WRONG_METADATA = {
    "another issuer": {"issuer": "https://another.example"},
    "no token endpoint": {"token_endpoint": None},
    "a page that is code": {"authorization_endpoint": "javascript:alert(1)"},
    "without TLS": {"token_endpoint": "http://provider.example/token"},
    "keys in a file": {"jwks_uri": "file:///etc/passwd"},
}


@pytest.mark.parametrize("wrong", WRONG_METADATA)
def test_a_provider_whose_metadata_are_wrong_is_not_used(service: Service, provider: OidcProvider, wrong: str) -> None:
    provider.metadata = WRONG_METADATA[wrong]
    response = open_call(service, "/sign-in/oidc")
    assert (response.status_code, code_of(response)) == (503, "oidc_unavailable")
    assert response.headers["Retry-After"] == "5"


def test_a_provider_that_is_away_stops_no_other_sign_in(engine: Engine, provider: OidcProvider) -> None:
    service = Service(engine, oidc=provider.settings(issuer="http://127.0.0.1:9"))
    assert code_of(open_call(service, "/sign-in/oidc")) == "oidc_unavailable"
    assert sign_in(service, a_person(service).email).status_code == 200


def test_without_passwords_only_the_provider_and_links_are_left(engine: Engine, provider: OidcProvider) -> None:
    service = Service(engine, oidc=provider.settings(only=True))
    assert service.client.get(f"{PREFIX}/sign-in/methods").json == {"password": False, "oidc": {"name": "Acme"}}
    person = a_person(service)
    assert code_of(sign_in(service, person.email)) == "passwords_off"
    assert code_of(person.post("/me/password", password=PASSWORD, new_password=PASSWORD + "2")) == "passwords_off"
    token = invited(service, "only@acme.example")
    by_password = open_call(service, "/invitations/accept", token=token, name="Ann", password=PASSWORD)
    assert code_of(by_password) == "passwords_off"
    response = through(service, provider, claims_of("only@acme.example"), invitation_token=token)
    assert response.status_code == 200
    link = service.transact(make_link, Person(service, person.id, "", person.session_id, "").id)
    assert open_call(service, "/sign-in/link", token=link).status_code == 200
