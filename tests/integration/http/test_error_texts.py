"""What errors say to a newcomer to the API."""

from typing import Any

import pytest

from tests.harness.service import PREFIX, Service

BODY = {"sender_id": "ACME", "phone": "254711000000", "message": "Hi"}


def detail(response: Any) -> str:
    return str(response.get_json(force=True)["detail"])


@pytest.mark.parametrize("token", ["smsk_live_4f1cQ9zK27Lb", "smss_" + "x" * 43 + "_abcdef"])
def test_an_api_key_used_as_a_token_is_explained(service: Service, token: str) -> None:
    response = service.get("/balance", token=token)
    assert (response.status_code, response.get_json(force=True)["code"]) == (401, "invalid_token")
    assert "not a token: get one with POST /api/v1/auth/token" in detail(response)
    assert token not in response.text
    assert "not a token" not in detail(service.get("/balance", token="nonsense"))


@pytest.mark.parametrize(
    ("path", "name", "meant"),
    [
        ("/sms/send", "to", "phone"),
        ("/sms/send", "from", "sender_id"),
        ("/sms/send", "body", "message"),
        ("/sms/send", "text", "message"),
        ("/sms/send", "To", "phone"),
        ("/sms/send-bulk", "to", "phones"),
        ("/sms/send-bulk", "recipients", "phones"),
        ("/sms/send-group", "group", "group_id"),
    ],
)
def test_the_names_of_other_services_are_known(service: Service, path: str, name: str, meant: str) -> None:
    errors = service.post(path, **{name: "x"}).get_json(force=True)["errors"]
    details = {error["pointer"]: error["detail"] for error in errors}
    assert details[f"/{name}"] == f"There is no such field. Did you mean `{meant}`?"


def test_a_sender_id_in_another_case_is_suggested(service: Service) -> None:
    response = service.post("/sms/send", **{**BODY, "sender_id": "Acme"})
    assert (response.status_code, response.get_json(force=True)["code"]) == (403, "sender_not_registered")
    assert "It has 'ACME'" in detail(response)
    assert "It has" not in detail(service.post("/sms/send", **{**BODY, "sender_id": "OTHER"}))
    stranger = service.new_token(service.new_account("stranger"))
    with service.engine.begin() as connection:
        rename = "UPDATE sender_id SET sender_id = 'Own' WHERE account_id = %s"
        connection.exec_driver_sql(rename, (service.account_id,))
    assert "It has" not in detail(service.post("/sms/send", token=stranger, **{**BODY, "sender_id": "OWN"}))


@pytest.mark.parametrize("path", ["/sms/send", "/balance", "/sends/x/cancel", "/groups/"])
def test_a_path_without_its_beginning_is_reported(service: Service, path: str) -> None:
    response = service.client.post(path, json=BODY)
    assert response.status_code == 404
    assert detail(response) == f"All paths begin with {PREFIX}. Try {PREFIX}{path}."
    assert "begin with" not in detail(service.client.get("/nothing"))
    assert "begin with" not in detail(service.client.get(f"{PREFIX}/nothing"))


@pytest.mark.parametrize(
    ("path", "reference"), [(f"{PREFIX}/sms/sent", "/reference"), ("/operator/v1/acounts", "/operator/reference")]
)
def test_an_unknown_path_is_named(service: Service, path: str, reference: str) -> None:
    response = service.client.get(path)
    assert response.status_code == 404
    listed = f"The API reference, {reference}, lists all paths and their methods."
    assert detail(response) == f"There is no path {path}. {listed}"


def test_a_method_that_a_path_does_not_take_is_named_with_those_that_it_takes(service: Service) -> None:
    response = service.client.put(f"{PREFIX}/groups", json={})
    assert (response.status_code, response.headers["Allow"]) == (405, "GET, HEAD, POST")
    assert detail(response).startswith(f"{PREFIX}/groups does not take PUT, only GET, HEAD, POST. The API reference")


def test_the_remediation_for_an_unknown_sender_id_says_how_to_get_it(service: Service) -> None:
    response = service.post("/sms/send", **{**BODY, "sender_id": "OTHER"}).get_json(force=True)
    assert "POST /api/v1/sender-ids" in response["remediation"]


@pytest.mark.parametrize("path", ["/sms/send", "/sender-ids"])
def test_the_lengths_of_names_and_numbers_are_both_said(service: Service, path: str) -> None:
    body = {**BODY, "sender_id": "x" * 16} if path == "/sms/send" else {"sender_id": "x" * 16}
    (error,) = service.post(path, **body).get_json(force=True)["errors"]
    assert error["detail"] == "A sender ID is a name of 1 to 11 characters or a number of 3 to 15 digits."


def test_singular_and_plural_are_right(service: Service) -> None:
    poor = service.new_token(service.new_account("poor", credits=1))
    response = service.post("/sms/send", token=poor, **{**BODY, "message": "x" * 200})
    assert detail(response) == "This send needs 2 credits; 1 is left."
    none = service.new_token(service.new_account("none", credits=0))
    assert detail(service.post("/sms/send", token=none, **BODY)) == "This send needs 1 credit; 0 are left."
    short = service.send("7").get_json(force=True)["errors"][0]["detail"]
    assert short.startswith("The phone number has 1 digit and needs")
