"""The console as a process of its own, before the API's processes."""

import http.client
import re
import urllib.parse
from html import unescape
from pathlib import Path

from bench.browser import CSRF
from bulksms.local import services
from bulksms.local.ports import LOOPBACK, free_port
from shared.people.memberships import add_member
from shared.people.persons import create_person
from shared.people.sign_in_links import make_link
from tests.harness.house import SECRET_KEY, STEADY, House, house
from tests.harness.servers import START_SECONDS

KEY = "a-secret-key-of-the-consoles-tests"


class Visitor:
    """Requests of one browser, with its cookie."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.cookie = ""

    def ask(self, method: str, path: str, **fields: str) -> tuple[int, str, str]:
        """Status, place and body of a response."""
        connection = http.client.HTTPConnection(LOOPBACK, self.port, timeout=30)
        try:
            headers = {"Cookie": self.cookie, "Content-Type": "application/x-www-form-urlencoded"}
            connection.request(method, path, urllib.parse.urlencode(fields) if fields else None, headers)
            response = connection.getresponse()
            self.cookie = (response.headers.get("Set-Cookie") or self.cookie).partition(";")[0]
            return response.status, response.headers.get("Location") or "", response.read().decode()
        finally:
            connection.close()

    def send(self, path: str, **fields: str) -> tuple[int, str, str]:
        """Open a form and send it."""
        token = CSRF.search(self.ask("GET", path)[2])
        assert token is not None
        return self.ask("POST", path, csrf_token=unescape(token.group(1)), **fields)


def link(service: House, account: int) -> str:
    with service.engine.begin() as connection:
        person = create_person(connection, "ann@example.com", "Ann Otieno")
        assert person is not None
        add_member(connection, account, person, "owner")
        return make_link(connection, person)


def test_it_works(tmp_path: Path) -> None:
    with house(tmp_path, workers=1, TRUSTED_PROXIES=f"{LOOPBACK}/32", CONSOLE_SECRET_KEY=KEY, **STEADY) as service:
        account = service.new_account()
        service.post("/sms/send", sender_id="ACME", phone="254711000000", message="Hello")
        token, port = link(service, account), free_port()
        console = services.console(port, service.port, service.env, tmp_path, Path.cwd())
        with console:
            console.launch()
            console.wait_ready(START_SECONDS)
            known = Path(f"/proc/{console.pid}/environ").read_bytes()
            assert KEY.encode() in known and SECRET_KEY.encode() not in known and b"DATABASE_URL" not in known
            visitor = Visitor(port)
            status, place, _ = visitor.ask("GET", f"/accounts/{account}/live/")
            assert (status, re.sub(r"\?.*", "", place)) == (302, "/sign-in")
            assert visitor.send(f"/sign-in/link/{token}")[0] == 302
            status, _, page = visitor.ask("GET", f"/accounts/{account}/live/messages/")
            assert status == 200 and "+254711000000" in page
            assert visitor.ask("GET", f"/accounts/{account}/live/messages/")[0] == 200
        log = (tmp_path / "console.log").read_text()
        assert "Traceback" not in log and token not in log and not re.search(r"2547\d{8}", log)
