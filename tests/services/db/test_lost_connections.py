"""A commit whose connection is lost may have taken effect. No session is used that the server has ended."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Thread

import pytest
from sqlalchemy import Engine, text

from api.app import create_app
from api.commit import lost_commit
from api.event_loop import ThreadOnlyPool
from shared.db.connection import make_engine, reading
from tests.faults.proxy import Proxy
from tests.harness.event_loop_client import EventLoopClient
from tests.harness.house import wait_until
from tests.harness.service import Service

PHONE = "254711000123"
END_OTHERS = text(
    """
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid()
    """
)


@pytest.fixture
def proxy(engine: Engine) -> Iterator[Proxy]:
    assert engine.url.port is not None
    with Proxy(engine.url.port) as proxy:
        yield proxy


@pytest.fixture
def service(engine: Engine, proxy: Proxy) -> Iterator[Service]:
    """Its API reaches the database through the proxy."""
    service = Service(engine)
    url = engine.url.set(host="127.0.0.1", port=proxy.port).render_as_string(hide_password=False)
    api_engine = make_engine(url, pool_class=ThreadOnlyPool)
    service.client = EventLoopClient(create_app(service.settings, engine=api_engine, celery=service.celery))
    yield service
    api_engine.dispose()


SEND = {"sender_id": "ACME", "phone": PHONE, "message": "Hi"}
WITHOUT: dict[str, str] = {}
STATEMENT, TRANSACTION = (PHONE, WITHOUT), ("COMMIT\0", {"Idempotency-Key": "once"})


@pytest.mark.parametrize(("pattern", "headers"), [STATEMENT, TRANSACTION], ids=["a single statement", "a transaction"])
@pytest.mark.parametrize("delivered", [True, False], ids=["that took effect", "that had none"])
def test_a_commit_without_a_response_is_repeated_until_it_is_certain(
    service: Service, proxy: Proxy, pattern: str, headers: dict[str, str], delivered: bool
) -> None:
    assert service.get("/balance").json["balance"] == 1000
    with once(proxy, pattern, delivered):
        response = service.post("/sms/send", headers=headers, **SEND)
    assert (response.status_code, response.json["balance"]) == (200, 999)
    assert [each["send_id"] for each in service.get("/messages").json["data"]] == [response.json["send_id"]]
    assert service.get("/balance").json["balance"] == 999


def test_a_list_whose_commit_got_no_response_is_stored_once(service: Service, proxy: Proxy) -> None:
    assert service.get("/balance").json["balance"] == 1000
    with once(proxy, "COMMIT\0", delivered=True):
        response = service.post("/sms/send-bulk", sender_id="ACME", phones=[PHONE, "254711000124"], message="Hi")
    assert (response.status_code, response.json["balance"]) == (200, 998)
    assert service.get("/balance").json["balance"] == 998


def test_a_verification_whose_commit_got_no_response_is_sent_once(service: Service, proxy: Proxy) -> None:
    assert service.get("/balance").json["balance"] == 1000
    with once(proxy, "COMMIT\0", delivered=True):
        response = service.post("/verifications", sender_id="ACME", phone=PHONE)
    assert (response.status_code, response.json["status"]) == (200, "pending")
    assert service.get("/balance").json["balance"] == 999


def test_a_group_of_sends_whose_commit_got_no_response_is_stored_once(service: Service, proxy: Proxy) -> None:
    """Of the three, the first waits for the account's row, and the others for the first: they are a group."""
    assert isinstance(service.client, EventLoopClient)
    queues = service.client.flask.extensions["bulksms"].commits._queues
    with ThreadPoolExecutor(3) as threads, once(proxy, "COMMIT\0", delivered=True):
        with service.engine.begin() as other:
            other.execute(text("SELECT FROM account WHERE id = :id FOR NO KEY UPDATE"), {"id": service.account_id})
            first = threads.submit(service.post, "/sms/send", **SEND)
            wait_until(lambda: queues and not queues[service.account_id].queued, 60, "the first to wait")
            keyed = threads.submit(service.post, "/sms/send", headers={"Idempotency-Key": "once"}, **SEND)
            other_one = threads.submit(service.post, "/sms/send", **SEND)
            wait_until(lambda: len(queues[service.account_id].queued) == 2, 60, "the others to wait")
        responses = [each.result() for each in (first, keyed, other_one)]
    assert [each.status_code for each in responses] == [200, 200, 200]
    sent = {each["send_id"] for each in service.get("/messages").json["data"]}
    assert sent == {each.json["send_id"] for each in responses}
    assert service.get("/balance").json["balance"] == 997


@pytest.mark.parametrize(("pattern", "headers"), [STATEMENT, TRANSACTION], ids=["a single statement", "a transaction"])
def test_a_commit_may_have_taken_effect_if_the_database_stays_away(
    service: Service, proxy: Proxy, pattern: str, headers: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lost_commit, "CERTAIN_SECONDS", 0.3)
    assert service.get("/balance").json["balance"] == 1000
    proxy.cut_at(pattern.encode(), delivered=False)
    response = service.post("/sms/send", headers=headers, **SEND)
    assert (response.status_code, response.json["code"]) == (504, "gateway_timeout")
    assert "may have taken effect" in response.json["remediation"]
    proxy.heal()
    if headers:
        assert service.post("/sms/send", headers=headers, **SEND).status_code == 200
        assert service.get("/balance").json["balance"] == 999


@contextmanager
def once(proxy: Proxy, pattern: str, delivered: bool) -> Iterator[None]:
    """Cut the connections that send the pattern, and be well as soon as one was cut."""

    def heal() -> None:
        wait_until(lambda: proxy.cuts > 0, 60, "a cut")
        proxy.heal()

    proxy.cut_at(pattern.encode(), delivered=delivered)
    healing = Thread(target=heal)
    healing.start()
    try:
        yield
    finally:
        healing.join()


def test_a_statement_without_a_response_had_no_effect(service: Service, proxy: Proxy) -> None:
    proxy.cut_at(b"INSERT INTO contact_group", delivered=False)
    response = service.post("/groups", name="VIP")
    assert (response.status_code, response.json["code"]) == (503, "unavailable")
    proxy.heal()
    assert service.post("/groups", name="VIP").status_code == 200


def test_a_send_whose_statement_got_no_response_had_no_effect(service: Service, proxy: Proxy) -> None:
    """It is executed by the driver itself, and rolled back on a connection that is closed by then."""
    assert service.get("/balance").json["balance"] == 1000
    proxy.cut_at(PHONE.encode(), delivered=False)
    response = service.post("/sms/send", headers={"Idempotency-Key": "once"}, **SEND)
    assert (response.status_code, response.json["code"]) == (503, "unavailable")
    proxy.heal()
    assert service.get("/balance").json["balance"] == 1000


def test_a_refusal_stays_one_if_its_rollback_gets_no_response(service: Service, proxy: Proxy) -> None:
    assert service.post("/groups", name="VIP").status_code == 200
    proxy.cut_at(b"ROLLBACK\0", delivered=False)
    before = proxy.cuts
    response = service.post("/groups", name="VIP")
    assert (response.status_code, proxy.cuts > before) == (409, True)


def test_sessions_that_the_server_has_ended_are_replaced(service: Service) -> None:
    assert service.send().status_code == 200
    with reading(service.engine) as connection:
        wait_until(lambda: not connection.execute(END_OTHERS).all(), 60, "the end of all other sessions")
    assert service.get("/balance").status_code == 200
    assert service.send().status_code == 200
    service.execute("SELECT 1")
