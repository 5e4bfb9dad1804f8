"""The settings of an OpenID Connect provider."""

import pytest

from shared.environment import SettingsError
from shared.oidc_settings import is_safe_url, oidc_settings

SET = {
    "OIDC_ISSUER": "https://id.acme.example/realms/staff",
    "OIDC_CLIENT_ID": "bulksms",
    "OIDC_CLIENT_SECRET": "secret",
}


def test_it_works() -> None:
    assert oidc_settings({}) is None
    found = oidc_settings({**SET, "OIDC_NAME": "Acme", "OIDC_ONLY": "1"})
    assert found is not None
    assert (found.issuer, found.client_id, found.client_secret) == tuple(SET.values())
    assert (found.name, found.only) == ("Acme", True)


WRONG = [
    *(({"OIDC_ONLY": value}, "OIDC_ONLY") for value in ("true", "yes", "on")),
    ({"OIDC_ISSUER": "", "OIDC_ONLY": "1"}, "OIDC_ONLY"),
    ({"OIDC_ISSUER": "http://id.acme.example"}, "OIDC_ISSUER"),
    ({"OIDC_ISSUER": "https://id.acme.example/?a=b"}, "OIDC_ISSUER"),
    ({"OIDC_ISSUER": "id.acme.example"}, "OIDC_ISSUER"),
    ({"OIDC_CLIENT_ID": ""}, "OIDC_CLIENT_ID"),
    ({"OIDC_CLIENT_SECRET": ""}, "OIDC_CLIENT_SECRET"),
    ({"OIDC_CLIENT_SECRET": "sécret"}, "OIDC_CLIENT_SECRET"),
    ({"OIDC_NAME": "a" * 41}, "OIDC_NAME"),
]


@pytest.mark.parametrize(("change", "named"), WRONG)
def test_the_error_names_what_is_wrong(change: dict[str, str], named: str) -> None:
    with pytest.raises(SettingsError, match=f"^{named}"):
        oidc_settings(SET | change)


@pytest.mark.parametrize(
    "url",
    ["https://id.example", "https://id.example:8443/a", "http://127.0.0.1:8080", "http://[::1]/", "http://localhost"],
)
def test_secrets_may_go_over_tls_or_to_this_machine(url: str) -> None:
    assert is_safe_url(url)


@pytest.mark.parametrize(
    "url",
    [
        *(
            "http://id.example",
            "http://127.0.0.1.evil.example",
            "http://localhost@evil.example",
            "ftp://id.example",
            "",
        ),
        *(
            "https://",
            "https://user@id.example",
            "https://id.example:port",
            "https://id.example/\n",
            "https://é.example",
        ),
        *("javascript:alert(1)", "file:///etc/passwd", "https://[::1", "None"),
    ],
)
def test_secrets_may_not_go_anywhere_else(url: str) -> None:
    assert not is_safe_url(url)
