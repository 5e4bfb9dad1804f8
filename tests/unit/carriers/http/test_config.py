"""Declarations of http carriers: each mistake is reported where it stands."""

from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from shared.carriers.config_tables import ConfigError
from shared.carriers.http import HttpConfig
from shared.carriers.http.file import http_carriers
from shared.settings import SettingsError

TABLE: dict[str, Any] = {"request": {"url": "https://a.example/", "json": {"to": "{phone}"}}, "response": {"id": "id"}}
GIVEN: dict[str, dict[str, Any]] = {
    "twilio": {"values": {"account_sid": "AC1", "auth_token": "t"}},
    "vonage": {"values": {"api_key": "k", "api_secret": "s"}},
    "africastalking": {"values": {"username": "u", "api_key": "k"}},
    "generic": {"values": {"token": "t"}},
}


def preset(name: str, **settings: Any) -> HttpConfig:
    """A preset with what it needs."""
    more = {"public_url": "https://sms.example.com", "callback": {"secret": "a-long-secret-of-a-carrier-0123456789"}}
    return HttpConfig.from_mapping("web", {"preset": name, **GIVEN[name], **more, **settings})


def test_it_works() -> None:
    config = HttpConfig.from_mapping("web", TABLE)
    assert (config.request.method, config.window, config.callback) == ("POST", 20, None)


@pytest.mark.parametrize("name", GIVEN)
def test_a_preset_reports_missing_settings(name: str) -> None:
    assert preset(name).callback_urls()["receipts_url"].startswith("https://sms.example.com/carriers/web/receipts")
    with pytest.raises(ConfigError, match=r"secret is missing"):
        HttpConfig.from_mapping("web", {"preset": name, **GIVEN[name]})
    with pytest.raises(ConfigError, match="values has"):
        preset(name, values={})


def test_a_given_setting_wins_over_that_of_the_preset() -> None:
    config = preset(
        "twilio", window=7, request={"url": "https://b.example/{account_sid}"}, response={"errors": {"1": "failed"}}
    )
    assert (config.window, config.request.url) == (7, "https://b.example/{account_sid}")
    assert config.request.form is not None
    assert {"1", "21211"} <= set(config.response.errors)


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"windw": 5}, "there is no setting windw"),
        ({"error_codes": {"17": "nonsense"}}, "error_codes: 'nonsense' is not one of"),
        ({"request": {}}, "request.url is missing"),
        ({"request": {"url": "https://a/", "jsn": {}}}, "there is no setting request.jsn"),
        ({"request": {"url": "ftp://a/"}}, "request.url must be an address"),
        ({"request": {"url": "https://a/{phoen}"}}, "there is no {phoen}"),
        ({"request": {"url": "https://a/", "json": {}, "form": {}}}, "not both"),
        ({"request": {"url": "https://a/", "method": "PATCH"}}, "request.method must be one of GET, POST, PUT"),
        ({"request": {"url": "https://a/", "basic": ["x"]}}, "a user and a password"),
        ({"request": {"url": "https://a/", "json": {"to": "{phone}"}, "batch": 2}}, "and not {phone}"),
        ({"request": {"url": "https://a/", "json": {"to": "{phones}"}, "batch": 2}}, "response.each is missing"),
        ({"window": 0}, "window must be a whole number from 1"),
        ({"window": True}, "window must be a whole number"),
        ({"window": 1.5}, "window must be a whole number"),
        ({"response": {"codes": {"1": "accepting"}}}, "response.codes.1 must be one of accepted"),
        ({"response": {"success_statuses": ["200"]}}, "response.success_statuses must be a whole number"),
        ({"response": []}, "response must be a table"),
        ({"poll": {"url": "https://a/"}}, "receipts is missing"),
        ({"callback": {"auth": "hmac", "secret": "x"}}, "callback.header is missing"),
        ({"callback": {"auth": "twilio", "secret": "x"}}, "public_url is missing"),
        ({"callback": {"auth": "none", "secret": "x"}}, "callback.auth must be one of"),
        ({"callback": {"auth": "basic", "secret": ""}}, "may not be empty"),
        ({"values": {"a": "x\ny"}}, "values.a must be printable"),
        ({"tls_ca": "nowhere.pem"}, "there is no file nowhere.pem"),
        ({"preset": "twillio"}, "preset must be one of africastalking"),
        ({"http2": True}, "there is no setting http2"),
    ],
)
def test_the_error_names_what_is_wrong(settings: dict[str, Any], problem: str) -> None:
    with pytest.raises(ConfigError) as raised:
        HttpConfig.from_mapping("web", {**TABLE, **settings})
    assert problem in str(raised.value)


def test_a_secret_of_any_characters_is_what_its_own_url_says() -> None:
    """As of `openssl rand -base64 32`: a plus sign would be read as a space."""
    secret = "ab+/c==&#0123456789-0123456789-0123456789"
    url = preset("africastalking", callback={"secret": secret}).callback_urls()["receipts_url"]
    assert parse_qs(urlsplit(url).query) == {"key": [secret]}


def test_no_secret_is_in_its_repr() -> None:
    assert "a-long-secret" not in repr(preset("africastalking", values={"username": "u", "api_key": "a-long-secret-2"}))


def test_the_file_names_the_carrier_and_takes_secrets_from_the_environment(tmp_path: Path) -> None:
    file = tmp_path / "carriers.toml"
    file.write_text(
        '[carrier.a]\nkind = "smpp"\n[carrier.b]\nkind = "http"\npreset = "twilio"\npublic_url = "https://x.example"\n'
        'values = { account_sid = "AC1", auth_token = "$TOKEN" }\ncallback.secret = "$TOKEN"\n'
        'request.basic = ["AC1", "$TOKEN"]\n'
    )
    found = http_carriers(str(file), {"TOKEN": "from-the-environment"})
    assert found["b"].request.basic == ["AC1", "from-the-environment"]
    assert [(name, config.callback and config.callback.secret) for name, config in found.items()] == [
        ("b", "from-the-environment")
    ]
    with pytest.raises(SettingsError, match=r"\[carrier.b\]: .* the environment has no TOKEN"):
        http_carriers(str(file), {})
    assert http_carriers("") == {}
