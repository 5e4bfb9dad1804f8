"""CARRIERS_FILE with the former names of settings."""

import re
from pathlib import Path

import pytest

from shared.carriers.former_names import FORMER_NAMES
from shared.carriers.http.file import http_carriers
from shared.settings import SettingsError
from worker.carrier_config.file import CarriersError, read_carriers

FORMER = """
[carrier.smsc]
driver = "smpp"
host = "127.0.0.1"
system_id = "acme"
password = "secret"
answer_time = 7
connect_time = 4

[carrier.web]
driver = "http"
ready = "twilio"
our_url = "https://sms.example"
answer_time = 8
connect_time = 3
values = { account_sid = "AC0123", auth_token = "t", answer = "a", taken = "b" }
request = { shortest_validity = 90, longest_validity = 3600, headers = { every = "{taken}" } }
callback = { proof = "hmac", header = "X-Signature", secret = "s" }
poll.url = "https://api.carrier.example/reports"
poll.every = 5

[carrier.web.answer]
taken = [207]
codes = { taken = "accepted" }
"""
CURRENT = """
[carrier.smsc]
kind = "smpp"
host = "127.0.0.1"
system_id = "acme"
password = "secret"
response_timeout = 7
connect_timeout = 4

[carrier.web]
kind = "http"
preset = "twilio"
public_url = "https://sms.example"
response_timeout = 8
connect_timeout = 3
values = { account_sid = "AC0123", auth_token = "t", answer = "a", taken = "b" }
request = { min_validity = 90, max_validity = 3600, headers = { every = "{taken}" } }
callback = { auth = "hmac", header = "X-Signature", secret = "s" }
poll.url = "https://api.carrier.example/reports"
poll.interval = 5

[carrier.web.response]
success_statuses = [207]
codes = { taken = "accepted" }
"""
SMPP = 'kind = "smpp"\nhost = "127.0.0.1"\nsystem_id = "acme"\npassword = "secret"\n'
HTTP = 'kind = "http"\npreset = "generic"\n'


def written(tmp_path: Path, text: str) -> Path:
    file = tmp_path / "carriers.toml"
    file.write_text(text)
    return file


def test_a_file_with_former_names_is_read_like_one_with_the_current_names(tmp_path: Path) -> None:
    file = written(tmp_path, CURRENT)
    current = [carrier._config for carrier in read_carriers(file, 15.0).carriers]  # type: ignore[attr-defined]
    web = http_carriers(str(file))
    assert (current[0].response_timeout, current[1].response.success_statuses) == (7, [207])
    file = written(tmp_path, FORMER)
    assert [carrier._config for carrier in read_carriers(file, 15.0).carriers] == current  # type: ignore[attr-defined]
    assert http_carriers(str(file)) == web == {"web": current[1]}


def test_the_file_has_every_former_name() -> None:
    names = {name for table in FORMER_NAMES.values() for name in table}
    assert names <= set(re.findall(r"\w+", FORMER))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (SMPP + 'driver = "http"\n', "driver is the former name of kind: remove one of them"),
        (SMPP + "answer_time = 9\nresponse_timeout = 9\n", "answer_time is the former name of response_timeout"),
        (HTTP + 'ready = "twilio"\n', "ready is the former name of preset"),
        (HTTP + 'answer.id = "id"\nresponse.code = "code"\n', "answer is the former name of response"),
        (
            HTTP + "[carrier.a.response]\nsuccess_statuses = [200]\ntaken = [200]\n",
            "response.taken is the former name of response.success_statuses",
        ),
        (HTTP + 'callback = { proof = "hmac", auth = "hmac" }\n', "callback.proof is the former name of callback.auth"),
    ],
)
def test_two_names_of_a_setting_are_refused(tmp_path: Path, text: str, problem: str) -> None:
    file = written(tmp_path, "[carrier.a]\n" + text)
    problem = re.escape(f"[carrier.a]: {problem}")
    with pytest.raises(CarriersError, match=rf"line \d: {problem}"):
        read_carriers(file, 15.0)
    with pytest.raises(SettingsError, match=problem):
        http_carriers(str(file))


def test_an_error_is_located_at_a_former_name(tmp_path: Path) -> None:
    file = written(tmp_path, "[carrier.a]\n" + SMPP + "answer_time = 13\n")
    with pytest.raises(CarriersError, match=r"line 6: \[carrier.a\]: response_timeout must be at most 12 seconds"):
        read_carriers(file, 15.0)


def test_the_former_names_are_documented() -> None:
    reference = Path(__file__).parents[3] / "docs" / "reference" / "carriers.md"
    rows = [line.split("|")[1:3] for line in reference.read_text().split("\n## Former names\n")[1].splitlines()[5:]]
    pairs = {pair for row in rows for pair in zip(*(re.findall(r"`(\w+)`", cell) for cell in row), strict=False)}
    assert pairs == {pair for table in FORMER_NAMES.values() for pair in table.items()}
