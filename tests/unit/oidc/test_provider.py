"""What is remembered of a provider, and what `bulksms doctor` says of it."""

from collections.abc import Iterator
from types import SimpleNamespace

import pytest

from shared.health.oidc import check_oidc
from shared.oidc import provider as module
from shared.oidc.http import ProviderUnavailable
from shared.oidc.provider import Provider
from shared.oidc_settings import OidcSettings
from shared.settings import Settings
from tests.harness.oidc_provider import CONSOLE_CALLBACK, OidcProvider, oidc_provider

pytestmark = pytest.mark.usefixtures("patient_with_providers")


@pytest.fixture
def running() -> Iterator[OidcProvider]:
    with oidc_provider() as made:
        yield made


def installation(oidc: OidcSettings | None) -> Settings:
    return Settings("postgresql://x", "redis://x", "redis://x", "x" * 32, oidc=oidc)


def test_metadata_are_read_once(running: OidcProvider) -> None:
    provider = Provider(running.settings(), CONSOLE_CALLBACK)
    for _ in range(3):
        assert provider.authorization_url("state", "nonce", "v" * 43).startswith(f"{running.issuer}/authorize?")
    assert running.requested_paths == ["/.well-known/openid-configuration", "/jwks"]


def test_a_provider_that_fails_is_left_alone_for_a_while(
    running: OidcProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = SimpleNamespace(monotonic=lambda: 1.0)
    monkeypatch.setattr(module, "time", clock)
    running.metadata = {"issuer": "https://another.example"}
    provider = Provider(running.settings(), CONSOLE_CALLBACK)
    for _ in range(3):
        with pytest.raises(ProviderUnavailable, match="it names itself 'https://another"):
            provider.authorization_url("state", "nonce", "v" * 43)
    assert running.requested_paths == ["/.well-known/openid-configuration"]
    running.metadata = {}
    clock.monotonic = lambda: 1.0 + module.REST_SECONDS
    assert provider.authorization_url("state", "nonce", "v" * 43)


@pytest.mark.parametrize(
    ("metadata", "reason"),
    [
        ({"issuer": "https://another.example"}, "set OIDC_ISSUER to exactly that"),
        ({"token_endpoint": "http://id.example/token"}, "no https:// URL as token_endpoint"),
        ({"jwks_uri": "{issuer}/nothing"}, "has no keys"),
    ],
)
def test_the_doctor_reports_what_is_wrong(running: OidcProvider, metadata: dict[str, str], reason: str) -> None:
    running.metadata = {name: value.replace("{issuer}", running.issuer) for name, value in metadata.items()}
    (finding,) = check_oidc(installation(running.settings()))
    assert finding.outcome == "wrong" and reason in finding.detail and finding.remedy
