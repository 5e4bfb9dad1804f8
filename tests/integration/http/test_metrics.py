"""What an operator's monitoring reads."""

import pytest
from sqlalchemy import Engine

from tests.harness.service import Service

TOKEN = "monitoring-token"


@pytest.fixture
def service(engine: Engine) -> Service:
    return Service(engine, metrics_token=TOKEN)


def test_it_works(service: Service) -> None:
    service.send(phone="99906000001")
    service.worker.carrier_status.refresh()
    answer = service.client.get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
    assert answer.status_code == 200
    lines = dict(line.rsplit(" ", 1) for line in answer.text.splitlines() if not line.startswith("#"))
    assert float(lines['bulksms_messages_in_doubt{carrier="simulator"}']) >= 1
    assert float(lines['bulksms_oldest_doubt_seconds{carrier="simulator"}']) >= 0
    assert float(lines["bulksms_accounts_frozen"]) == 0
    assert float(lines['bulksms_carrier_ready{carrier="simulator"}']) == 1
    assert float(lines['bulksms_carrier_submitted{carrier="simulator"}']) >= 1
    assert float(lines['bulksms_carrier_unreadable{carrier="simulator"}']) == 0
    assert float(lines['bulksms_carrier_unknown_answers{carrier="simulator"}']) == 0
    assert float(lines["bulksms_receipts_unreadable"]) == 0
    assert float(lines['bulksms_carrier_allowed_rate{carrier="simulator"}']) == 0
    assert 'bulksms_batches{state="queued"}' in lines
    assert float(lines["bulksms_deliveries_pending"]) == float(lines["bulksms_webhooks_failing"]) == 0


def test_it_is_not_public(service: Service) -> None:
    for headers in ({}, {"Authorization": "Bearer guessed"}, {"Authorization": f"Bearer {service.token}"}):
        answer = service.client.get("/metrics", headers=headers)
        assert (answer.status_code, answer.json["code"]) == (404, "not_found")
