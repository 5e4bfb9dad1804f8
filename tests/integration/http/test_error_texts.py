"""What errors say to a newcomer to the API."""

from types import SimpleNamespace
from typing import Any

import psycopg
import pytest
from sqlalchemy.exc import OperationalError

from api import app
from tests.harness.service import Service

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


FULL = OperationalError("INSERT", None, psycopg.errors.DiskFull("could not extend file"))


def test_a_send_is_refused_with_the_reason(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise FULL

    monkeypatch.setattr("api.accept.accept.validate_and_price", fail)
    response = service.send()
    assert (response.status_code, response.json["detail"]) == (503, "The database's disk is full.")


def test_readyz_names_it(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "schema_problem", lambda engine: "The database does not answer: refused.")
    monkeypatch.setattr("shared.db.errors.shutil.disk_usage", lambda path: SimpleNamespace(free=1 << 20))
    response = service.client.get("/readyz")
    assert response.status_code == 503
    assert "refused. The disk is full: 1 MiB are left" in response.json["status"]
