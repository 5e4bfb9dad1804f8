from typing import Any

import pytest

from shared.carriers.config_tables import ConfigError
from tests.unit.carriers.smpp.making import config
from worker.carriers.smpp.config import SmppConfig


def test_it_works() -> None:
    settings = {
        "host": "smsc.example",
        "system_id": "me",
        "password": "secret",
        "tlvs": {"0x1401": "6869"},
        "window": 10,
    }
    made = SmppConfig.of(settings)
    assert (made.host, made.port, made.window, made.parameters) == ("smsc.example", 2775, 10, {0x1401: b"hi"})


def test_the_password_is_not_shown() -> None:
    assert "secret" not in repr(config())


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("port", 0),
        ("port", "2775"),
        ("window", 0),
        ("window", 1001),
        ("window", 2.5),
        ("window", True),
        ("rate", -1),
        ("bind", "receiver"),
        ("alphabet", "utf8"),
        ("long_messages", "split"),
        ("receipt_id", "octal"),
        ("host", ""),
        ("system_id", "a-name-much-too-long"),
        ("password", "with\0nul"),
        ("service_type", "toolong"),
        ("source_ton", 256),
        ("data_coding", -1),
        ("response_timeout", 0),
        ("response_timeout", None),
        ("tls_ca", "ca.pem"),
        ("tlvs", {"0": ""}),
        ("tlvs", {"5": 1}),
        ("tlvs", {"5": "00" * 256}),
        ("tls", "yes"),
        ("message_id_tag", 0x204),
        ("pass_tlvs", [0x13FF]),
        ("pass_tlvs", ["0x1400"]),
        ("error_codes", {"042": "nonsense"}),
        ("error_codes", {"042": 1}),
        ("error_codes", 42),
    ],
)
def test_an_invalid_setting_is_refused_by_name(name: str, value: Any) -> None:
    with pytest.raises(ConfigError, match=name):
        config(**{name: value})


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"windows": 5}, "no setting windows"),
        ({"password": "x", "host": "h"}, "system_id is missing"),
        ({"host": "h", "system_id": "s", "password": "p", "tlvs": {"x": "zz"}}, "tlvs"),
        ({"host": "h", "system_id": "s", "password": "p", "tlvs": [1]}, "tlvs"),
    ],
)
def test_a_file_with_a_mistake_is_refused(settings: dict[str, Any], problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        SmppConfig.of(settings)
