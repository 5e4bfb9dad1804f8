"""The console's settings."""

import pytest

from console.settings import from_environment
from shared.environment import SettingsError

KEY = {"CONSOLE_SECRET_KEY": "k" * 32}


def test_it_works() -> None:
    settings = from_environment({**KEY, "CONSOLE_URL": "https://sms.example.com/", "API_URL": "http://api:8000"})
    assert (settings.url, settings.api_url, settings.secure) == ("https://sms.example.com", "http://api:8000", True)


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"CONSOLE_SECRET_KEY": ""}, "CONSOLE_SECRET_KEY"),
        ({"CONSOLE_SECRET_KEY": "short"}, "CONSOLE_SECRET_KEY"),
        ({**KEY, "API_URL": "localhost:8000"}, "API_URL"),
        ({**KEY, "API_URL": "http://api:none"}, "API_URL"),
        ({**KEY, "API_URL": "http://"}, "API_URL"),
        ({**KEY, "CONSOLE_URL": "https://[::1"}, "CONSOLE_URL"),
        ({**KEY, "LOG_LEVEL": "verbose"}, "LOG_LEVEL"),
        ({**KEY, "CONSOLE_PROXIES": "one"}, "CONSOLE_PROXIES"),
    ],
)
def test_the_error_names_what_is_wrong(wrong: dict[str, str], named: str) -> None:
    with pytest.raises(SettingsError, match=named):
        from_environment(wrong)


def test_the_error_does_not_repeat_a_password() -> None:
    with pytest.raises(SettingsError) as refused:
        from_environment({**KEY, "API_URL": "http://console:Xanthippe@api:none"})
    assert "Xanthippe" not in str(refused.value)
