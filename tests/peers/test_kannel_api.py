"""Our `sendsms` before a client that is Kannel, and before the requests that RapidPro's courier makes: `make peers`."""

import shutil
import urllib.parse
import urllib.request
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from bulksms.local.ports import free_port
from shared.accounts.smpp_credentials import NewCredential
from tests.harness.house import House, wait_until
from tests.harness.receiver import Receiver, receiver
from tests.peers.kannel_boxes import PATIENCE, boxes

pytestmark = pytest.mark.peers
HTTP = """
group = smsc
smsc = http
smsc-id = ours
system-type = kannel
send-url = "{ours}"
smsc-username = {name}
smsc-password = {password}
port = {port}
connect-allow-ip = 127.0.0.1
dlr-url = "http://127.0.0.1:{port}/?username={name}&password={password}&from=%p&to=%P"
"""
DELIVERED = "SELECT count(*) FROM message WHERE status = 'delivered'"


def url_of(house: House) -> str:
    return f"http://127.0.0.1:{house.port}/cgi-bin/sendsms"


def get(url: str, query: dict[str, str]) -> tuple[int, str]:
    with urllib.request.urlopen(f"{url}?{urllib.parse.urlencode(query)}", timeout=PATIENCE) as answer:
        return answer.status, answer.read().decode()


def statuses(there: Receiver) -> dict[str, set[str]]:
    """The statuses that came for each id."""
    found: dict[str, set[str]] = {}
    for post in there.posts:
        query = {name: value for name, [value] in parse_qs(urlsplit(post.path).query).items()}
        found.setdefault(query["id"], set()).add(query["status"])
    return found


def test_a_kannel_box_is_a_customer(house: House, login: NewCredential, tmp_path: Path) -> None:
    assert shutil.which("bearerbox") and shutil.which("smsbox"), "Kannel is not installed (apt-get install kannel)"
    texts = ["Hi", "x" * 300, "я" * 50, "{{name}} €"]
    carrier = HTTP.format(ours=url_of(house), name=login.system_id, password=login.password, port=free_port())
    with receiver() as there, boxes(tmp_path, carrier) as box:
        for number, each in enumerate(texts):
            query = {"username": "foo", "password": "bar", "from": "ACME", "to": f"+25471100000{number}", "text": each}
            query |= {"charset": "UTF-8", "coding": "2"} if number == 2 else {}
            query |= {"dlr-mask": "31", "dlr-url": f"{there.url}?id={number}&status=%d"}
            assert get(box, query) == (202, "0: Accepted for delivery")
        expected = {str(number): {"8", "1"} for number in range(len(texts))}
        wait_until(lambda: statuses(there) == expected, PATIENCE, "the reports of the box")
    assert house.scalar(DELIVERED) == 5


def test_what_courier_sends(house: House, login: NewCredential) -> None:
    """RapidPro's courier, handlers/kannel: these parameters, and a dlr-url with `status=%d`."""
    with receiver() as there:
        for number, more in enumerate(({}, {"coding": "2", "charset": "utf8", "text": "Žižkov ☃"}, {"priority": "1"})):
            query = {"username": login.system_id, "password": login.password, "from": "ACME", "text": "Hello"}
            query |= {"to": "+254711000009", "dlr-mask": "27", "dlr-url": f"{there.url}?id={number}&status=%d", **more}
            assert get(url_of(house), query) == (202, "0: Accepted for delivery")
        expected = {str(number): {"8", "1"} for number in range(3)}
        wait_until(lambda: statuses(there) == expected, PATIENCE, "the reports")
