"""A minimal API: Flask that responds like a send, and does nothing."""

from flask import Flask, request

from api.server.application import Application

RESPONSE = {
    "send_id": "01940000-0000-7000-8000-000000000000",
    "message_id": "01940000-0000-7000-8000-000000000001",
    "status": "queued",
    "sender_id": "ACME",
    "phone": "254711000000",
    "segments": {"count": 1, "encoding": "gsm7", "characters": 96},
    "cost": 1,
    "balance": 999,
    "category": "transactional",
    "reference": None,
    "send_at": None,
    "expires_at": "2026-01-01T00:00:00Z",
    "test": False,
    "created_at": "2026-01-01T00:00:00Z",
}

app = Flask(__name__)
served = Application(app.wsgi_app, owner_of=lambda _: 1)
"""The application, served as the API is."""


@app.post("/api/v1/sms/send")
def send() -> dict[str, object]:
    """Parse the JSON body, and respond."""
    return {**RESPONSE, "phone": request.get_json()["phone"]}


@app.get("/readyz")
def ready() -> dict[str, str]:
    """Always ready."""
    return {"status": "ready"}
