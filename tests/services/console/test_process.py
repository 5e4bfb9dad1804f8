"""The console as a process of its own, before the API's processes."""

import re
from contextlib import closing
from pathlib import Path

from bench.browser import Browser
from bulksms.local import services
from bulksms.local.ports import LOOPBACK, free_port
from shared.people.sign_in_links import make_link
from tests.harness.fetch import fetch
from tests.harness.house import SECRET_KEY, STEADY, house
from tests.harness.people import a_member
from tests.harness.servers import START_SECONDS

KEY = "a-secret-key-of-the-consoles-tests"


def test_it_works(tmp_path: Path) -> None:
    with house(tmp_path, workers=1, TRUSTED_PROXIES=f"{LOOPBACK}/32", CONSOLE_SECRET_KEY=KEY, **STEADY) as service:
        account = service.new_account()
        service.post("/sms/send", sender_id="ACME", phone="254711000000", message="Hello")
        token, port = service.transact(make_link, service.transact(a_member, account)[0]), free_port()
        console = services.console(port, service.port, service.env, tmp_path, Path.cwd())
        with console:
            console.launch()
            console.wait_ready(START_SECONDS)
            known = Path(f"/proc/{console.pid}/environ").read_bytes()
            assert KEY.encode() in known and SECRET_KEY.encode() not in known and b"DATABASE_URL" not in known
            sent_away = fetch(port, f"/accounts/{account}/live/")
            assert (sent_away.status, sent_away.headers["Location"].partition("?")[0]) == (302, "/sign-in")
            with closing(Browser(port)) as browser:
                browser.sign_in_by_link(token)
                status, page, _ = browser.get(f"/accounts/{account}/live/messages/")
                assert status == 200 and "+254711000000" in page
                assert browser.get(f"/accounts/{account}/live/messages/")[0] == 200
        log = (tmp_path / "console.log").read_text()
        assert "Traceback" not in log and token not in log and not re.search(r"2547\d{8}", log)
