"""Callbacks that Twilio has signed: over which forms of the URL, and what of a callback must be signed."""

import base64
import hashlib
import hmac
import json
from pathlib import Path

import pytest
from sqlalchemy import Engine
from werkzeug.test import TestResponse

from tests.harness.service import Service
from tests.harness.what_we_read import table

SECRET = "12345"
FILE = """
[carrier.twilio]
kind = "http"
preset = "twilio"
public_url = "{}"
values = {{ account_sid = "AC1", auth_token = "t" }}
callback.secret = "{}"
"""


@pytest.fixture(scope="module")
def service(engine: Engine) -> Service:
    """The API; each test says where its carrier calls."""
    return Service(engine)


def call(service: Service, tmp_path: Path, public_url: str, path: str, signature: str, body: str = "") -> TestResponse:
    """Call as Twilio does: by GET, or by POST with a JSON body."""
    file = tmp_path / "carriers.toml"
    file.write_text(FILE.format(public_url, SECRET))
    service.call_from(file)
    headers = {"X-Twilio-Signature": signature, "Content-Type": "application/json"} if signature else {}
    return service.client.open(path, method="POST" if body else "GET", data=body or None, headers=headers)


@pytest.mark.parametrize("row", table("Signatures of Twilio"))
def test_what_twilio_has_signed_is_believed(service: Service, tmp_path: Path, row: dict[str, str]) -> None:
    path = f"/carriers/twilio/inbound?{row['Query as sent']}"
    response = call(service, tmp_path, row["public_url"], path, row["X-Twilio-Signature"])
    assert response.status_code == {"believed": 200, "refused": 401}[row["Result"]]
    unsigned = call(service, tmp_path, row["public_url"], path, "")
    assert (unsigned.status_code, unsigned.json["code"]) == (401, "invalid_credentials")


@pytest.mark.parametrize(("hashed", "status"), [("the body", 200), ("another body", 401), ("none", 401)])
def test_json_is_signed_by_its_hash_in_the_query(service: Service, tmp_path: Path, hashed: str, status: int) -> None:
    body = json.dumps({"MessageSid": "SM2", "From": "+254711000301", "To": "22395", "Body": "STOP"})
    signed_body = {"the body": body, "another body": "{}"}.get(hashed)
    query = "" if signed_body is None else f"?bodySHA256={hashlib.sha256(signed_body.encode()).hexdigest()}"
    path = f"/carriers/twilio/inbound{query}"
    digest = hmac.digest(SECRET.encode(), f"https://sms.example{path}".encode(), hashlib.sha1)
    signature = base64.b64encode(digest).decode()
    assert call(service, tmp_path, "https://sms.example", path, signature, body).status_code == status
