"""Sending to one phone."""

import pytest

from tests.harness.own_database import own_database
from tests.harness.service import Service

engine = own_database


def test_low_balance_changes_nothing(service: Service) -> None:
    before = service.get("/balance").json
    response = service.bulk([str(254711000000 + i) for i in range(1001)])
    assert response.status_code == 402
    assert (response.json["code"], response.json["required"], response.json["balance"]) == ("low_balance", 1001, 1000)
    assert service.get("/balance").json["balance"] == before["balance"]
    assert service.get("/sends").json["data"] == []


def test_exactly_the_balance_is_enough(service: Service) -> None:
    response = service.bulk([str(254711000000 + i) for i in range(1000)])
    assert response.status_code == 200
    assert response.json["balance"] == 0
    assert service.send().status_code == 402


@pytest.mark.parametrize(
    ("phone", "statuses", "cost"),
    [
        ("999010001", ["sent", "undelivered"], 1),
        ("999020001", ["failed", "failed"], 0),
        ("999030001", ["sent", "delivered"], 1),
        ("999040001", ["sent", "delivered"], 1),
        ("999050001", ["in_doubt", "delivered"], 1),
        ("999060001", ["in_doubt", "in_doubt"], 1),
        ("999070001", ["sent", "delivered"], 1),
        ("999080001", ["sent", "delivered"], 1),
        ("999090001", ["sent", "sent"], 1),
        ("999100001", ["failed", "failed"], 0),
    ],
)
def test_magic_phones(service: Service, phone: str, statuses: list[str], cost: int) -> None:
    message = service.send(phone=phone).json["message_id"]
    path = f"/messages/{message}"
    seen = [service.get(path).json["status"]]
    service.deliver_receipts()
    service.sweep()  # which looks whose doubt a receipt resolves
    seen.append(service.get(path).json["status"])
    assert seen == statuses
    assert service.get(path).json["cost"] == cost
    balance = service.get("/balance").json
    assert balance["balance"] + balance["reserved"] == 1000 - cost + balance["reserved"]
    assert balance["reserved"] == (1 if seen[-1] == "in_doubt" else 0)
