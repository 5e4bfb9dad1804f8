"""An OpenID Connect provider, built on the server side of Authlib: it checks clients, codes, PKCE and redirect URIs.

    with oidc_provider() as provider:
        provider.user = {"sub": "1", "email": "ann@acme.example", "email_verified": True}
        returned = provider.browse(authorization_url)     # {"code": …, "state": …}

`forge` replaces its ID tokens, to see what its clients make of wrong ones.
"""

import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlsplit
from urllib.request import HTTPErrorProcessor, build_opener

from authlib.integrations.flask_oauth2 import AuthorizationServer
from authlib.oauth2.rfc6749 import AuthorizationCodeMixin, ClientMixin, grants
from authlib.oauth2.rfc7636 import CodeChallenge
from authlib.oidc.core import OpenIDCode
from flask import Flask, jsonify, request
from joserfc import jwt
from joserfc.jwk import RSAKey

from shared.oidc_settings import OidcSettings
from tests.harness.console import serving

CLIENT_ID, CLIENT_SECRET = "bulksms", "secret-of-the-client"
CONSOLE_CALLBACK = "http://127.0.0.1:8001/sign-in/oidc/callback"

Forge = Callable[[dict[str, Any], RSAKey], str]
"""Makes an ID token of the right claims, and the right key."""


class Client(ClientMixin):
    """The only client, with its redirect URI."""

    def __init__(self, callback: str) -> None:
        self.callback = callback

    def get_client_id(self) -> str:
        return CLIENT_ID

    def get_default_redirect_uri(self) -> str:
        return self.callback

    def get_allowed_scope(self, scope: str) -> str:
        return scope

    def check_redirect_uri(self, redirect_uri: str) -> bool:
        return redirect_uri == self.callback

    def check_client_secret(self, client_secret: str) -> bool:
        return client_secret == CLIENT_SECRET

    def check_endpoint_auth_method(self, method: str, endpoint: str) -> bool:
        return method in ("client_secret_post", "client_secret_basic")

    def check_response_type(self, response_type: str) -> bool:
        return response_type == "code"

    def check_grant_type(self, grant_type: str) -> bool:
        return grant_type == "authorization_code"


@dataclass
class Code(AuthorizationCodeMixin):
    """An authorization code that was given out."""

    code: str
    user: dict[str, Any]
    payload: dict[str, Any]

    @property
    def code_challenge(self) -> Any:
        return self.payload.get("code_challenge")

    @property
    def code_challenge_method(self) -> Any:
        return self.payload.get("code_challenge_method")

    def get_redirect_uri(self) -> Any:
        return self.payload.get("redirect_uri")

    def get_scope(self) -> str:
        return str(self.payload.get("scope"))

    def get_nonce(self) -> Any:
        return self.payload.get("nonce")

    def get_auth_time(self) -> int:
        return int(time.time())

    def get_acr(self) -> None:
        return None

    def get_amr(self) -> None:
        return None


class StaysHere(HTTPErrorProcessor):
    """Returns redirects instead of following them."""

    def http_response(self, request: Any, response: Any) -> Any:
        return response

    https_response = http_response


class OidcProvider:
    """The provider. What is set here holds for the next request."""

    def __init__(self) -> None:
        self.issuer = ""
        self.callback = CONSOLE_CALLBACK
        self.user: dict[str, Any] = {}
        """The claims of whoever is signed in there."""
        self.forge: Forge | None = None
        self.keys = [RSAKey.generate_key(2048, auto_kid=True)]
        self.claims_in_userinfo = False
        self.takes_codes_again = False
        self.metadata: dict[str, Any] = {}
        """Overrides of its metadata."""
        self.codes: dict[str, Code] = {}
        self.requested_paths: list[str] = []
        """Paths of all requests."""
        self.app = self._app()

    def settings(self, **more: Any) -> OidcSettings:
        """The settings of an installation that uses it."""
        return OidcSettings(**{**self._client(), **more})

    def rotate(self) -> None:
        """Sign with another key from now on, and forget the one before."""
        self.keys = [RSAKey.generate_key(2048, auto_kid=True)]

    def browse(self, authorization_url: str) -> dict[str, str]:
        """What a browser sent there brings back: the query of the address to which it is redirected."""
        with build_opener(StaysHere).open(authorization_url, timeout=60) as response:
            assert response.status == 302, response.read()
            back = response.headers["Location"]
        assert back.startswith(CONSOLE_CALLBACK + "?")
        return dict(parse_qsl(urlsplit(back).query))

    def _client(self) -> dict[str, Any]:
        return {"issuer": self.issuer, "client_id": CLIENT_ID, "client_secret": CLIENT_SECRET, "name": "Acme"}

    def _app(self) -> Flask:
        app = Flask("provider")
        tokens: dict[str, dict[str, Any]] = {}
        server = AuthorizationServer()
        server.init_app(
            app,
            query_client=lambda client_id: Client(self.callback) if client_id == CLIENT_ID else None,
            save_token=lambda token, request: tokens.update({token["access_token"]: request.user}),
        )
        server.register_grant(_grant_of(self), [_OpenId(self), CodeChallenge(required=True)])

        @app.before_request
        def note() -> None:
            self.requested_paths.append(request.path)

        @app.get("/.well-known/openid-configuration")
        def metadata() -> Any:
            named = {
                "issuer": self.issuer,
                "authorization_endpoint": f"{self.issuer}/authorize",
                "token_endpoint": f"{self.issuer}/token",
                "userinfo_endpoint": f"{self.issuer}/userinfo",
                "jwks_uri": f"{self.issuer}/jwks",
                "token_endpoint_auth_methods_supported": ["client_secret_post", "client_secret_basic"],
            }
            return jsonify({**named, **self.metadata})

        @app.get("/jwks")
        def jwks() -> Any:
            return jsonify({"keys": [{**key.as_dict(private=False), "use": "sig"} for key in self.keys]})

        @app.get("/authorize")
        def authorize() -> Any:
            grant = server.get_consent_grant(end_user=self.user)
            return server.create_authorization_response(grant_user=self.user, grant=grant)

        @app.post("/token")
        def token() -> Any:
            return server.create_token_response()

        @app.get("/userinfo")
        def userinfo() -> Any:
            return jsonify(tokens[request.headers["Authorization"].removeprefix("Bearer ")])

        return app


def _grant_of(provider: OidcProvider) -> type[grants.AuthorizationCodeGrant]:
    class Grant(grants.AuthorizationCodeGrant):
        TOKEN_ENDPOINT_AUTH_METHODS = ("client_secret_basic", "client_secret_post")

        def save_authorization_code(self, code: str, request: Any) -> None:
            provider.codes[code] = Code(code, dict(request.user), dict(request.payload.data))

        def query_authorization_code(self, code: str, client: Any) -> Code | None:
            return provider.codes.get(code)

        def delete_authorization_code(self, authorization_code: Code) -> None:
            if not provider.takes_codes_again:
                del provider.codes[authorization_code.code]

        def authenticate_user(self, authorization_code: Code) -> dict[str, Any]:
            return authorization_code.user

    return Grant


class _OpenId(OpenIDCode):
    def __init__(self, provider: OidcProvider) -> None:
        super().__init__(require_nonce=True)
        self.provider = provider

    def exists_nonce(self, nonce: str, request: Any) -> bool:
        return False

    def encode_id_token(self, token: dict[str, Any], request: Any) -> str:
        provider, now, user = self.provider, int(time.time()), request.user
        claims = {"iss": provider.issuer, "aud": CLIENT_ID, "iat": now, "exp": now + 300}
        claims |= {"nonce": request.authorization_code.get_nonce(), "sub": user["sub"]}
        claims |= {} if provider.claims_in_userinfo else user
        return (provider.forge or signed)(claims, provider.keys[0])


def signed(claims: dict[str, Any], key: RSAKey) -> str:
    """An ID token."""
    return jwt.encode({"alg": "RS256", "kid": key.kid}, claims, key)


@contextlib.contextmanager
def oidc_provider() -> Iterator[OidcProvider]:
    """A provider on a free port."""
    provider = OidcProvider()
    with serving(provider.app) as address:
        provider.issuer = address
        yield provider
