"""No phone, text or secret gets into a log, an error, a metric or Redis, whatever goes wrong while it is sent."""

import contextlib

import psutil
import pytest
from sqlalchemy.engine import make_url

from tests.harness.fetch import fetch
from tests.harness.house import SECRET_KEY, STEADY, House, a_house, wait_until
from tests.harness.leaks import in_logs, leaks

pytestmark = pytest.mark.slow
PHONES = ["254799123456", "999010123456", "999020123456", "999100123456"]
"""One that is delivered, and some that the simulated carrier refuses in its ways."""
TEXT = "Canary, a text that nobody may read"
METRICS = "metrics-token-of-the-tests-0123456789"


service = a_house(1, LOG_LEVEL="DEBUG", METRICS_TOKEN=METRICS, **STEADY)


def canaries(service: House) -> list[str]:
    return [*PHONES, TEXT, SECRET_KEY, METRICS, service.token, service.key.api_secret]


def raw(service: House, method: str, path: str, body: bytes = b"", **headers: str) -> str:
    """A response's head and body as text."""
    response = fetch(service.port, path, method, body, {"Content-Type": "application/json", **headers})
    return f"{response.status} {response.headers}{response.text}"


def test_errors_show_nothing(service: House) -> None:
    secret = service.key.api_secret
    errors = [
        raw(service, "POST", "/api/v1/auth/token", f'{{"api_key": "x", "api_secret": "{secret}"}}'.encode()),
        raw(service, "POST", "/api/v1/auth/token", **{"X-API-Key": "x", "X-API-Secret": secret}),
        raw(service, "GET", "/api/v1/balance", Authorization=f"Bearer {service.token}x"),
        raw(service, "POST", "/api/v1/sms/send", f'{{"phone": "{PHONES[0]}", "message": "{TEXT}"'.encode()),
        raw(
            service,
            "POST",
            "/api/v1/sms/send",
            f'{{"phone": "{PHONES[0]}", "message": "{TEXT}", "sender_id": "NONE"}}'.encode(),
            Authorization=f"Bearer {service.token}",
        ),
    ]
    assert [error[:3] for error in errors] == ["401", "401", "401", "401", "403"]
    for error in errors:
        assert leaks(error, *canaries(service)) == []


def test_accepted_and_refused_messages_leak_nothing(service: House) -> None:
    for phone in PHONES:
        service.post("/sms/send", sender_id="ACME", phone=phone, message=TEXT)
    service.post("/sms/send-bulk", sender_id="ACME", phones=[*PHONES, "0799123456"], message=TEXT)
    service.wait_for_end(60)
    assert service.leaks(*canaries(service)) == []
    metrics = raw(service, "GET", "/metrics", Authorization=f"Bearer {METRICS}")
    assert metrics.startswith("200")
    assert leaks(metrics, *canaries(service)) == []


def test_an_error_of_the_database_shows_no_row(service: House) -> None:
    """A trigger of this test's refuses the rows of messages, and tells them."""
    service.execute(REFUSE)
    try:
        service.post("/sms/send", sender_id="ACME", phone=PHONES[0], message=TEXT)
        log = service.folder / "worker-1.log"
        wait_until(lambda: "refused by the test" in log.read_text(), 60, "the error in the worker's log")
        status, response = service.try_request(
            "POST", "/sms/send", {"sender_id": "ACME", "phone": PHONES[0], "message": f"{TEXT} refuse"}
        )
        assert status == 500
        assert leaks(str(response), *canaries(service)) == []
    finally:
        service.execute("DROP FUNCTION refuse_row() CASCADE")
    assert leaked(service) == []


def test_no_command_line_holds_a_secret(service: House) -> None:
    """Every process of the machine can read them."""
    assert service.api is not None
    ours = [psutil.Process(process.pid) for process in (service.api, service.postgres, service.redis, *service.workers)]
    lines = []
    for each in [each for one in ours for each in (one, *one.children(recursive=True))]:
        with contextlib.suppress(psutil.NoSuchProcess):  # one of Postgres that has just ended
            lines.append(" ".join(each.cmdline()))
    assert any("api.server" in line for line in lines) and any("valkey" in line for line in lines)
    passwords = [make_url(url).password or "" for url in (service.postgres.url, service.redis.url)]
    assert all(passwords)
    for secret in (*canaries(service), *passwords):
        assert not [line for line in lines if secret in line]


def test_without_a_database_nothing_is_reported_either(service: House) -> None:
    service.postgres.stop()
    error = raw(
        service,
        "POST",
        "/api/v1/sms/send",
        f'{{"sender_id": "ACME", "phone": "{PHONES[0]}", "message": "{TEXT}"}}'.encode(),
        Authorization=f"Bearer {service.token}",
    )
    assert error.startswith("503")
    assert leaks(error, *canaries(service)) == []
    service.postgres.start()
    wait_until(lambda: raw(service, "GET", "/readyz").startswith("200"), 60, "the database")
    assert leaked(service) == []


def leaked(service: House) -> list[str]:
    return in_logs(service.folder, *canaries(service))


REFUSE = """
CREATE FUNCTION refuse_row() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'refused by the test' USING DETAIL = 'Failing row contains (' || NEW::text || ').';
END $$;
CREATE TRIGGER refuse_message BEFORE INSERT ON message FOR EACH ROW EXECUTE FUNCTION refuse_row();
CREATE TRIGGER refuse_send BEFORE INSERT ON send FOR EACH ROW WHEN (NEW.message LIKE '%refuse')
    EXECUTE FUNCTION refuse_row();
"""
