"""deploy/nginx.conf in a real nginx, before real API processes and before ones that break off."""

import contextlib
import http.client
import json
import re
import selectors
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from api.limits.bulkheads import CONNECTIONS_OF_ADDRESS
from bulksms.local.ports import LOOPBACK, free_port
from tests.harness.fetch import fetch
from tests.harness.front import NGINX, Front, Upstream, needs_nginx
from tests.harness.house import House, house, wait_until

pytestmark = [pytest.mark.slow, needs_nginx]
BROKEN = "127.0.0.9"
SEND = {"sender_id": "ACME", "phone": "254711000000", "message": "Hi"}


@pytest.fixture(name="service", scope="module")
def _service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with house(tmp_path_factory.mktemp("house"), 0, TRUSTED_PROXIES="127.0.0.0/8") as made:
        made.new_account()
        yield made


@pytest.fixture(name="certificate", scope="module")
def _certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tls")
    options = ["-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=front"]
    options += ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", "key.pem", "-out", "cert.pem"]
    subprocess.run(["openssl", "req", *options], cwd=folder, check=True, capture_output=True)
    return folder


@pytest.fixture(name="front")
def _front(service: House, certificate: Path, tmp_path: Path) -> Iterator[Front]:
    """Before the API. `service` makes its requests to it."""
    tls = {"TLS_CERTIFICATE": str(certificate / "cert.pem"), "TLS_KEY": str(certificate / "key.pem")}
    port = service.port
    made = Front(tmp_path / "front", port, **tls)
    made.resolve_to(LOOPBACK)
    made.start()
    wait_until(lambda: made.server(LOOPBACK) in made.servers(), 60, "the API")
    service.port = made.port
    try:
        yield made
    finally:
        service.port = port
        made.stop()


def test_nginx_takes_what_the_page_on_systemd_makes(certificate: Path, tmp_path: Path) -> None:
    """With the console's part, which is on another page."""
    folder, bound = tmp_path / "nginx", [free_port() for _ in range(4)]
    folder.mkdir()
    page = Path("docs/operating/systemd.md").read_text().partition("## nginx in front")[2]
    (script,) = re.findall(r"```sh\n(.*?nginx -t)", page, re.S)
    (console,) = re.findall(r"```nginx\n(.*?)```", Path("docs/operating/deployment.md").read_text(), re.S)
    for made, here in {
        "/etc/nginx": str(folder),
        "/run/nginx.pid": str(folder / "pid"),
        "/etc/ssl/sms/fullchain.pem": str(certificate / "cert.pem"),
        "/etc/ssl/sms/privkey.pem": str(certificate / "key.pem"),
        "listen 443": f"listen {LOOPBACK}:{bound[0]}",
        "listen 127.0.0.1:8000": f"listen {LOOPBACK}:{bound[1]}",
        "listen 127.0.0.1:8009": f"listen {LOOPBACK}:{bound[2]}",
        "nginx -t": "true",
    }.items():
        assert made in script, made
        script = script.replace(made, here)
    subprocess.run(["bash", "-euc", script], check=True)
    with (folder / "bulksms" / "http.conf").open("a") as file:
        file.write("limit_conn_zone $binary_remote_addr zone=console:1m;\n")
        file.write(f"server {{ listen {LOOPBACK}:{bound[3]}; {console} }}\n")
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    paths = "".join(f"{kind}_temp_path {folder / kind};\n" for kind in kinds)
    settings = folder / "nginx.conf"
    settings.write_text(settings.read_text().replace("http {\n", f"error_log stderr;\nhttp {{\n{paths}", 1))
    assert "/run/front" not in settings.read_text() and f"{LOOPBACK}:8001" not in settings.read_text()
    tested = subprocess.run([str(NGINX), "-t", "-c", str(settings)], capture_output=True, text=True, check=False)
    assert tested.returncode == 0, tested.stderr


def test_tls(front: Front, certificate: Path) -> None:
    context = ssl.create_default_context(cafile=str(certificate / "cert.pem"))
    connection = http.client.HTTPSConnection(LOOPBACK, front.tls_port, timeout=60, context=context)
    connection.request("GET", "/healthz")
    response = connection.getresponse()
    assert response.status == 200
    connection.close()
    context.set_alpn_protocols(["h2"])
    raw = socket.create_connection((LOOPBACK, front.tls_port))
    with raw, context.wrap_socket(raw, server_hostname=LOOPBACK) as wrapped:
        assert wrapped.selected_alpn_protocol() == "h2"


def test_only_requests_that_may_be_repeated_go_to_another_container(front: Front, service: House) -> None:
    """One container ends while it has a request."""
    broken = Upstream(BROKEN, front.api_port, responds=False)
    broken.start()
    front.use(LOOPBACK, BROKEN, line=BROKEN)

    def until_broken(method: str, path: str, body: object, headers: dict[str, str]) -> tuple[int, dict[str, object]]:
        """Repeat it until the broken one has got one, and give the response of that one."""
        deadline = time.monotonic() + 60  # each time it gets no other for a while: `fail_timeout`
        while time.monotonic() < deadline:
            before = len(broken.requests)
            status, response = service.try_request(method, path, body, headers)
            if len(broken.requests) > before:
                return status, response
            assert status == 200
            time.sleep(0.1)
        raise AssertionError("the broken container got no request")

    assert until_broken("GET", "/balance", None, {})[0] == 200
    assert until_broken("POST", "/sms/send", SEND, {"Idempotency-Key": "one"})[0] == 200
    sent = service.scalar("SELECT count(*) FROM send")
    status, problem = until_broken("POST", "/sms/send", SEND, {})
    assert (status, problem["code"], problem["retryable"]) == (502, "bad_gateway", False)
    broken.stop()
    assert service.scalar("SELECT count(*) FROM send") >= sent


def test_a_get_that_sends_goes_to_one_container_only(front: Front) -> None:
    """The other container ends while it has one."""
    broken = Upstream(BROKEN, front.api_port, responds=False)
    broken.start()
    front.use(LOOPBACK, BROKEN, line=BROKEN)
    deadline = time.monotonic() + 60
    while not broken.requests and time.monotonic() < deadline:
        status = fetch(front.port, "/cgi-bin/sendsms?username=nobody").status
        assert status == (502 if broken.requests else 403)
    assert broken.requests
    broken.stop()


def test_the_log_has_no_requests(tmp_path: Path) -> None:
    """Which nginx adds to what it says of a missing API."""
    front = Front(tmp_path / "front", free_port())
    front.resolve_to()
    front.start()
    try:
        assert fetch(front.port, "/cgi-bin/sendsms?password=secret").status == 503
        assert "secret" not in front.log()
    finally:
        front.stop()


def test_what_was_not_sent_is_repeated_whatever_it_is(front: Front, service: House) -> None:
    """A container that is gone, while the name server still has it."""
    gone = Upstream(BROKEN, front.api_port)
    gone.start()
    front.use(LOOPBACK, BROKEN, line=BROKEN)
    gone.stop()
    assert [service.try_request("POST", "/sms/send", SEND)[0] for _ in range(20)] == [200] * 20


def test_a_container_that_does_not_answer_yet_gets_no_request(front: Front) -> None:
    front.resolve_to(LOOPBACK, BROKEN)
    front.look_up()
    assert BROKEN not in front.servers()
    started = Upstream(BROKEN, front.api_port)
    started.start()
    wait_until(lambda: BROKEN in front.servers(), 60, "the look-up")
    started.stop()


def test_the_client_cannot_name_its_own_address(front: Front) -> None:
    upstream = Upstream(BROKEN, front.api_port)
    upstream.start()
    front.use(BROKEN, line=BROKEN)
    assert fetch(front.port, "/healthz", headers={"X-Forwarded-For": "198.51.100.7"}).status == 204
    upstream.stop()
    (request,) = upstream.requests
    assert [line for line in request.splitlines() if "forwarded" in line.lower()] == [f"X-Forwarded-For: {LOOPBACK}"]


def test_an_address_has_a_maximum_of_requests_at_the_same_time(tmp_path: Path) -> None:
    """Of IPv6, a /64 is one address. Their bodies have not come yet, so no API has got any of them."""
    front = Front(tmp_path / "front", free_port(), TRUSTED_PROXIES=f"{LOOPBACK}/32")
    front.resolve_to()
    front.start()

    def begin(address: str, held: contextlib.ExitStack) -> socket.socket:
        made = held.enter_context(socket.create_connection((LOOPBACK, front.port), timeout=60))
        made.sendall(f"POST /x HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: {address}\r\nContent-Length: 9\r\n\r\n".encode())
        return made

    try:
        with contextlib.ExitStack() as held, selectors.DefaultSelector() as clients:
            for number in range(CONNECTIONS_OF_ADDRESS + 1):
                address = ("2001:db8::1", "2001:db8::5:0:0:7", "2001:db8::9")[number % 3]
                clients.register(begin(address, held), selectors.EVENT_READ)
            ((refused, _),) = clients.select(60)  # whichever nginx's processes read last
            assert isinstance(refused.fileobj, socket.socket)
            with http.client.HTTPResponse(refused.fileobj) as response:
                response.begin()
                problem = json.loads(response.read())
            assert (response.status, problem["code"], problem["retryable"]) == (429, "rate_limited", True)
            assert response.headers["Retry-After"] == "1"
            for other in ("2001:db8:0:1::1", "2001:db9::1", "192.0.2.1"):
                client = begin(other, held)
                client.sendall(b"123456789")
                assert client.recv(12) == b"HTTP/1.1 503", "there is no API here, which is not too many requests"
    finally:
        front.stop()


def test_a_container_that_leaves_gets_no_more_requests(front: Front, service: House) -> None:
    """Not even while the name server has it. A later one with its address does."""
    leaving = Upstream(BROKEN, front.api_port)
    leaving.start()
    front.use(LOOPBACK, BROKEN, line=BROKEN)

    def answered() -> bool:
        return service.try_request("GET", "/balance")[0] == 200

    front.leave(BROKEN)
    got = len(leaving.requests)
    assert all(answered() for _ in range(20))
    front.look_up()
    assert BROKEN not in front.servers()
    assert all(answered() for _ in range(20))
    assert len(leaving.requests) == got
    front.resolve_to(LOOPBACK)
    wait_until(lambda: BROKEN not in front.leaving(), 60, "another look-up")
    front.use(LOOPBACK, BROKEN, line=BROKEN)  # a new container with the same address
    leaving.stop()
