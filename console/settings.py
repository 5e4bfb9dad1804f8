"""The console's settings, read once from the environment."""

import os
from collections.abc import Mapping
from dataclasses import dataclass

from shared.environment import MIN_KEY_LENGTH, Environment, SettingsError, log_level, web_address
from shared.unit import CREDITS, Unit, unit_of

API_URL, CONSOLE_URL = "http://127.0.0.1:8000", "http://127.0.0.1:8001"


@dataclass(frozen=True, slots=True)
class Settings:
    """Where the API is, and how the console is reached."""

    secret_key: str
    """Signs cookies and forms."""
    api_url: str = API_URL
    """The API's address, without `/api/v1`."""
    url: str = CONSOLE_URL
    """The console's own address, as people type it. With https, cookies are only sent over TLS."""
    proxies: int = 0
    """How many proxies in front of the console append to X-Forwarded-For."""
    unit: Unit = CREDITS
    """What a credit is worth."""

    @property
    def secure(self) -> bool:
        """Whether people reach the console over TLS."""
        return self.url.startswith("https://")


def from_environment(environ: Mapping[str, str] | None = None) -> Settings:
    """Settings from environment variables. Raises SettingsError naming the variable and the remedy."""
    env = Environment(os.environ if environ is None else environ)
    secret_key = env.get("CONSOLE_SECRET_KEY", "")
    if len(secret_key) < MIN_KEY_LENGTH:
        raise SettingsError(
            f"CONSOLE_SECRET_KEY must have at least {MIN_KEY_LENGTH} characters. Make one with: openssl rand -hex 32"
        )
    log_level(env)
    proxies = env.get("CONSOLE_PROXIES", "") or "0"
    if not proxies.isdecimal():
        raise SettingsError(f"CONSOLE_PROXIES is {proxies}, and must be a number. Example: CONSOLE_PROXIES=1")
    return Settings(
        secret_key=secret_key,
        api_url=web_address(env, "API_URL", API_URL),
        url=web_address(env, "CONSOLE_URL", CONSOLE_URL),
        proxies=int(proxies),
        unit=unit_of(env.get("UNIT", "")),
    )
