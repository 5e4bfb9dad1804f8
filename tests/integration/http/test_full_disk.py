"""What a client and a health check get when the disk is full."""

from types import SimpleNamespace

import psycopg
import pytest
from sqlalchemy.exc import OperationalError

from api import app
from tests.harness.service import Service

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
